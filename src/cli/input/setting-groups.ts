/**
 * The order and the headings of the settings in `oi serve --help`: what most servers need stands
 * first.
 *
 * @module
 */

import type { ConfigName } from '../../config.js'

export const settingGroups: Readonly<Record<string, readonly ConfigName[]>> = {
  'Options most servers need:': [
    'model',
    'config',
    'host',
    'port',
    'tlsCert',
    'tlsKey',
    'dataDir',
    'admin',
    'device',
    'log',
  ],
  'Connections:': [
    'corsOrigins',
    'trustedProxies',
    'proxyProtocol',
    'idleTimeoutMs',
    'transport',
    'metricsHost',
    'metricsPort',
  ],
  'Callers:': ['anonymous', 'shareStates', 'idempotencyHours', 'placeWaitMs'],
  'Several nodes:': ['accounts', 'accountsGraceMs', 'limits'],
  'What a model is, and how it is asked:': [
    'modelsDir',
    'mmproj',
    'readout',
    'calibration',
    'orders',
    'contextTokens',
    'deterministic',
    'inProcess',
  ],
  'Processors:': [
    'threads',
    'replicas',
    'gpuLayers',
    'cpuExperts',
    'split',
    'tensorSplit',
    'kernels',
    'flashAttention',
    'cacheType',
    'mmap',
    'mlock',
    'maxForks',
    'batchTokens',
    'microbatchTokens',
  ],
  'Known states:': ['hostCacheMb', 'diskCacheDir', 'diskCacheMb'],
  'Limits of requests:': [
    'maxQuestions',
    'maxBodyBytes',
    'maxBodiesMb',
    'maxReplyBytes',
    'maxQueued',
    'maxBacklogMs',
  ],
  'Time limits:': ['bodyTimeoutMs', 'deadlineMs', 'batchDeadlineMs', 'drainMs', 'graceMs'],
  'Log and traces:': ['logLevel', 'logFormat', 'otlpEndpoint', 'otlpHeaders', 'otlpSamplePercent'],
}

/**
 * Loaded by tap before each test file: the processes that a test starts run as for users.
 *
 * tap passes its own module hooks on to every child, for coverage that is not measured here. They
 * add three quarters of a second to the start of each server and each runner.
 */
import processOnSpawn from 'process-on-spawn'

const hooks = /"--import=[^"]*@tapjs[^"]*"/g

processOnSpawn.addListener((child) => {
  const { NODE_OPTIONS: options = '', ...env } = child.env
  const left = options.replace(hooks, '').trim()
  child.env = left === '' ? env : { ...env, NODE_OPTIONS: left }
})

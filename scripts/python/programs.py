"""Programs of others against a server of oi: prints one line of JSON a check.

Arguments: the server's address, a key, the address of the same server through a proxy that cuts
connections, the address of a server that needs no key from here (--anonymous loopback).
"""
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'
URL, KEY, CUT, OPEN = sys.argv[1:5]
STATE = 'Ticket 4711: I was charged twice this month, please refund the second payment.'
checks = []


def check(program):
    def add(function):
        checks.append((program, function.__name__.replace('_', ' '), function))
        return function
    return add


def equal(got, expected):
    assert got == expected, f'expected {expected!r}, got {got!r}'


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f'expected {kind.__name__}, nothing was raised')


# jevcompat: each requirement is a check


def jevcompat(program, url, key):
    from jevcompat.runner import run
    report = run(url, key=key)
    tell(program, "the verdict is 'conformant'", None if report.conformant else report.verdict)
    for result in report.results:
        conditional = result.id.startswith('auth.') and result.status == 'skip'
        if not conditional:
            reason = result.reason or '; '.join(map(str, result.findings[:1]))
            tell(program, f'{result.level} {result.id}', None if result.status == 'pass' else reason)


# typesafe-sdk

from typesafe_sdk import (
    AsyncTypeSafeClient, Choice, Image, Noul, RetryPolicy, Score, TypeSafeAPIConnectionError,
    TypeSafeAPIError, TypeSafeAPIResponseValidationError, TypeSafeAPITimeoutError,
    TypeSafeAuthenticationError, TypeSafeBadRequestError, TypeSafeClient, TypeSafeNotFoundError,
    TypeSafeUnprocessableEntityError,
)

SDK = 'typesafe-sdk'
QUESTIONS = {
    'billing': Noul(instructions='Is this about a payment?'),
    'team': Choice(instructions='Which team?', criteria={'accounts': 'payments', 'technical': None}),
    'urgency': Score(instructions='How urgent?', criteria=['can wait', 'this week', 'today']),
}
ONCE = RetryPolicy(max_retries=0)


def sdk(url=URL, key=KEY, **more):
    return TypeSafeClient(base_url=url, api_key=key, timeout=60, **more)


def answered(reply):
    assert 0 <= reply.nouls['billing'].noul <= 1
    assert reply.choices['team'].choice in ('accounts', 'technical')
    assert 0 <= reply.scores['urgency'].score <= 2
    assert reply.usage.input_tokens > 0


@check(SDK)
def system_one_answers_each_type():
    with sdk() as client:
        answered(client.system_one(state=STATE, questions=QUESTIONS))


@check(SDK)
def states_of_objects_and_lists_and_questions_as_dictionaries():
    with sdk() as client:
        for state in ({'text': STATE}, [STATE, 2], STATE):
            client.system_one(state=state, questions={'q': {'type': 'noul', 'instructions': 'Is it money?'}})


@check(SDK)
def models_list_has_the_models():
    with sdk() as client:
        assert client.models.list().models[0].name


@check(SDK)
def the_asynchronous_client_does_the_same():
    async def run():
        async with AsyncTypeSafeClient(base_url=URL, api_key=KEY, timeout=60) as client:
            replies = await asyncio.gather(*(client.system_one(state=STATE, questions=QUESTIONS) for _ in range(8)))
            for reply in replies:
                answered(reply)
            assert (await client.models.list()).models
    asyncio.run(run())


@check(SDK)
def bodies_go_compressed_and_plain():
    for compression in ('zstd', False):
        with sdk(compression=compression) as client:
            answered(client.system_one(state=STATE * 40, questions=QUESTIONS))


@check(SDK)
def a_model_and_further_fields_and_headers_are_taken():
    with sdk(model='default', headers={'x-a': 'b'}) as client:
        client.system_one(state=STATE, questions=QUESTIONS, model='jev-preview', extra_headers={'x-oi-orders': '1'},
                          extra_body={'nothing': 1})


@check(SDK)
def a_model_of_pydantic_reads_the_reply():
    from pydantic import BaseModel

    class Reply(BaseModel):
        model: str
        latency_ms: float
    with sdk() as client:
        assert client.system_one(state=STATE, questions=QUESTIONS, response_model=Reply).latency_ms > 0


@check(SDK)
def a_reply_that_does_not_fit_the_model_is_an_error_of_its_own():
    from pydantic import BaseModel

    class Reply(BaseModel):
        nowhere: str
    with sdk(retry=ONCE) as client:
        raises(TypeSafeAPIResponseValidationError,
               lambda: client.system_one(state=STATE, questions=QUESTIONS, response_model=Reply))


@check(SDK)
def pictures_go_as_parts_and_are_refused_by_a_model_of_texts():
    import io
    from PIL import Image as Pillow
    picture = io.BytesIO()
    Pillow.new('RGB', (8, 8), 'red').save(picture, 'png')
    photo = Image(picture.getvalue())
    with sdk(retry=ONCE) as client:
        for call in (
            lambda: client.system_one(state={'photo': photo}, questions=QUESTIONS),
            lambda: client.system_one(state='See receipt.', questions=QUESTIONS, assets={'receipt': photo}),
        ):
            error = raises(TypeSafeBadRequestError, call)
            assert 'reads text only' in str(error), str(error)


@check(SDK)
def a_wrong_key_is_an_authentication_error():
    with sdk(key='oi-wrong', retry=ONCE) as client:
        error = raises(TypeSafeAuthenticationError, lambda: client.system_one(state=STATE, questions=QUESTIONS))
        equal(error.status, 401)
        assert error.request_id


@check(SDK)
def an_unknown_model_is_a_bad_request():
    with sdk(retry=ONCE) as client:
        error = raises(TypeSafeBadRequestError,
                       lambda: client.system_one(state=STATE, questions=QUESTIONS, model='none'))
        assert 'model: expected one of' in str(error), str(error)


@check(SDK)
def a_wrong_field_cannot_be_processed():
    with sdk(retry=ONCE) as client:
        raises(TypeSafeUnprocessableEntityError,
               lambda: client.system_one(state=STATE, questions=QUESTIONS, extra_body={'questions': {}}))


@check(SDK)
def an_unknown_route_is_not_found():
    with sdk(url=f'{URL}/nowhere', retry=ONCE) as client:
        raises(TypeSafeNotFoundError, lambda: client.models.list())


@check(SDK)
def a_server_that_is_not_there_is_a_connection_error():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    with sdk(url=f'http://127.0.0.1:{port}', retry=ONCE) as client:
        raises(TypeSafeAPIConnectionError, lambda: client.models.list())


@check(SDK)
def a_time_out_is_an_error_of_its_own():
    with sdk(retry=ONCE) as client:
        raises(TypeSafeAPITimeoutError,
               lambda: client.system_one(state=STATE, questions=QUESTIONS, timeout=0.0001))


@check(SDK)
def retries_get_through_a_proxy_that_cuts():
    with sdk(url=CUT, retry=RetryPolicy(max_retries=5, backoff_initial=0.05)) as client:
        for _ in range(3):
            answered(client.system_one(state=STATE, questions=QUESTIONS))


@check(SDK)
def errors_of_every_class_are_errors_of_the_package():
    for kind in (TypeSafeBadRequestError, TypeSafeAuthenticationError, TypeSafeNotFoundError):
        assert issubclass(kind, TypeSafeAPIError)


@check(SDK)
def a_made_up_key_is_none_where_none_is_needed():
    with sdk(url=OPEN, key='sk-anything') as client:
        answered(client.system_one(state=STATE, questions=QUESTIONS))


# openai

OPENAI = 'openai'
PREDICATE = {'type': 'predicate', 'name': 'refund', 'instructions': 'The customer wants money back.'}
CHOICE = {'type': 'choice', 'name': 'team', 'instructions': 'Which team?', 'choices': [{'value': 'billing'}, {'value': 'sales'}]}
LEVELS = {'type': 'score', 'name': 'urgency', 'instructions': 'How urgent?', 'levels': [{'label': 'low'}, {'label': 'high'}]}


def openai_client(key=KEY, **more):
    from openai import OpenAI
    return OpenAI(base_url=f'{URL}/v1', api_key=key, max_retries=0, **more)


@check(OPENAI)
def decisions_create_answers_each_type():
    answers = openai_client().decisions.create(
        model='default', input=STATE, questions=[PREDICATE, CHOICE, LEVELS]).answers
    equal([answer.type for answer in answers], ['predicate', 'choice', 'score'])
    assert 0 <= answers[0].probability <= 1


@check(OPENAI)
def decisions_create_takes_400_questions():
    answers = openai_client().decisions.create(
        model='default', input=STATE, questions=[{**PREDICATE, 'name': f'q{i}'} for i in range(400)]).answers
    equal(len(answers), 400)


@check(OPENAI)
def the_asynchronous_client_decides():
    from openai import AsyncOpenAI

    async def run():
        async with AsyncOpenAI(base_url=f'{URL}/v1', api_key=KEY) as client:
            reply = await client.decisions.create(model='default', input=STATE, questions=[PREDICATE])
            equal(len(reply.answers), 1)
    asyncio.run(run())


@check(OPENAI)
def models_list_and_retrieve():
    client = openai_client()
    names = [model.id for model in client.models.list()]
    equal(client.models.retrieve('default').id, names[0])


@check(OPENAI)
def errors_have_their_classes_and_members():
    import openai
    wrong = raises(openai.AuthenticationError, lambda: openai_client('oi-wrong').models.list())
    equal((wrong.code, wrong.type), ('invalid_api_key', 'invalid_request_error'))
    bad = raises(openai.BadRequestError,
                 lambda: openai_client().decisions.create(model='none', input=STATE, questions=[PREDICATE]))
    equal((bad.code, bad.type, bad.param), ('invalid_request', 'invalid_request_error', 'model'))
    raises(openai.NotFoundError, lambda: openai_client().models.retrieve('none'))
    raises(openai.NotFoundError, lambda: openai_client().chat.completions.create(model='default', messages=[]))


# pydecide

PYDECIDE = 'pydecide'


def pydecide_backends():
    from decide.backends.openai_decisions import OpenAIDecisionsBackend
    from decide.backends.typesafe import TypeSafeBackend
    return (TypeSafeBackend(KEY, base_url=URL),
            OpenAIDecisionsBackend(KEY, base_url=f'{URL}/v1', model='default'))


def pydecide_questions():
    import decide
    return {
        'billing': decide.Noul(instructions='Is this about a payment?', criteria={'true': 'money', 'false': 'not'}),
        'team': decide.Choice(instructions='Which team?', criteria={'accounts': 'payments', 'technical': None}),
        'urgency': decide.Score(instructions='How urgent?', criteria=['can wait', 'today']),
    }


@check(PYDECIDE)
def both_backends_decide():
    import decide
    for backend in pydecide_backends():
        reply = decide.Client([backend]).decide(STATE, pydecide_questions())
        equal(list(reply.answers), ['billing', 'team', 'urgency'])
        assert 0 <= reply.answers['billing'].noul <= 1


@check(PYDECIDE)
def a_batch_is_decided():
    import decide
    replies = decide.Client([pydecide_backends()[0]]).decide_batch([STATE] * 4, pydecide_questions())
    equal(len(replies), 4)


@check(PYDECIDE)
def the_asynchronous_client_of_pydecide_decides():
    import decide
    reply = asyncio.run(decide.AsyncClient([pydecide_backends()[0]]).decide(STATE, pydecide_questions()))
    equal(len(reply.answers), 3)


@check(PYDECIDE)
def a_wrong_key_is_told():
    import decide
    from decide.backends.typesafe import TypeSafeBackend
    client = decide.Client([TypeSafeBackend('oi-wrong', base_url=URL)])
    raises(decide.DecideError, lambda: client.decide(STATE, pydecide_questions()))


# hev-rerank


@check('hev-rerank')
def documents_are_ranked():
    from hev_rerank import rerank
    documents = ['The invoice was charged twice.', {'title': 'Weather', 'text': 'It rains.'}, 'A refund takes a week.']
    with sdk() as client:
        ranked = rerank('refund of a payment', documents, client=client)
    equal(sorted(result.index for result in ranked), [0, 1, 2])
    assert all(0 <= result.score <= 1 for result in ranked)


@check('hev-rerank')
def many_documents_are_ranked_in_several_calls():
    from hev_rerank import rerank
    with sdk() as client:
        ranked = rerank('refund', [f'Document {i}' for i in range(70)], client=client, top_n=5)
    equal(len(ranked), 5)


# LiteLLM: the library

LITELLM = 'litellm'
WIRE = {'billing': {'type': 'noul', 'instructions': 'Is this about a payment?'}}
THROUGH = {'api_base': URL, 'api_key': KEY}


def litellm():
    import litellm
    litellm.suppress_debug_info = True
    return litellm


@check(LITELLM)
def the_library_asks_systemone():
    reply = litellm().systemone(model='typesafe/jev-latest', state=STATE, questions=WIRE, **THROUGH)
    assert 0 <= reply.answers["billing"].noul <= 1


@check(LITELLM)
def the_library_asks_systemone_asynchronously():
    reply = asyncio.run(litellm().asystemone(model='typesafe/jev-latest', state=STATE, questions=WIRE, **THROUGH))
    assert 'billing' in reply.answers


@check(LITELLM)
def the_library_asks_decisions():
    reply = litellm().decisions(model='openai/default', input=STATE, questions=[PREDICATE, CHOICE],
                                api_base=f'{URL}/v1', api_key=KEY)
    equal(len(reply.answers), 2)


@check(LITELLM)
def the_library_tells_a_wrong_key_and_an_unknown_model():
    library = litellm()
    raises(library.AuthenticationError, lambda: library.systemone(
        model='typesafe/jev-latest', state=STATE, questions=WIRE, api_base=URL, api_key='oi-wrong'))
    raises(library.BadRequestError, lambda: library.systemone(
        model='typesafe/none', state=STATE, questions=WIRE, **THROUGH))


# LiteLLM: the proxy

PROXY = 'litellm proxy'
MASTER = 'sk-made-up'
proxied = None

GUIDE = Path(__file__).parent.parent / 'deploy/README.md'


def configuration():
    """That of the guide, with the server's address."""
    [block] = re.findall(r'^```yaml\n(model_list:.*?)^```', GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return block.replace('http://127.0.0.1:8080', URL)


def begin_proxy(folder):
    """The process and its address; it takes some seconds until it answers."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    config = Path(folder, 'config.yaml')
    config.write_text(configuration())
    command = [str(Path(sys.executable).parent / 'litellm'), '--config', str(config), '--host', '127.0.0.1',
               '--port', str(port), '--telemetry', 'False']
    log = open(Path(folder, 'log'), 'w')
    env = {**os.environ, 'OI_KEY': KEY, 'LITELLM_MASTER_KEY': MASTER}
    return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=env), f'http://127.0.0.1:{port}'


def wait_for_proxy(process, url, folder):
    import httpx
    for _ in range(240):
        assert process.poll() is None, Path(folder, 'log').read_text()[-2000:]
        try:
            if httpx.get(f'{url}/health/readiness', timeout=1).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.25)
    raise AssertionError(Path(folder, 'log').read_text()[-2000:])


def through_proxy(method, path, **more):
    import httpx
    headers = {'authorization': f'Bearer {MASTER}', **more.pop('headers', {})}
    return httpx.request(method, f'{proxied}{path}', headers=headers, timeout=60, **more)


ASKED = {'model': 'oi', 'state': STATE, 'questions': WIRE}


@check(PROXY)
def the_proxy_passes_systemone_on():
    reply = through_proxy('POST', '/v1/systemone', json=ASKED)
    equal((reply.status_code, list(reply.json()['answers'])), (200, ['billing']))


@check(PROXY)
def the_proxy_passes_decisions_on():
    body = {'model': 'oi-decisions', 'input': STATE, 'questions': [PREDICATE]}
    reply = through_proxy('POST', '/v1/decisions', json=body)
    equal((reply.status_code, len(reply.json().get('answers', []))), (200, 1))


@check(PROXY)
def the_proxy_counts_costs():
    reply = through_proxy('POST', '/v1/systemone', json=ASKED)
    assert float(reply.headers['x-litellm-response-cost']) > 0, dict(reply.headers)


@check(PROXY)
def the_official_client_speaks_through_the_proxy():
    with sdk(url=proxied, key=MASTER, model='oi', compression=False) as client:
        answered(client.system_one(state=STATE, questions=QUESTIONS))


@check(PROXY)
def the_official_client_speaks_compressed_through_the_proxy():
    with sdk(url=proxied, key=MASTER, model='oi', compression='zstd', retry=ONCE) as client:
        answered(client.system_one(state=STATE * 40, questions=QUESTIONS))


@check(PROXY)
def the_official_client_lists_models_through_the_proxy():
    with sdk(url=proxied, key=MASTER, retry=ONCE) as client:
        assert client.models.list().models


@check(PROXY)
def the_id_comes_back_through_the_proxy():
    reply = through_proxy('POST', '/v1/systemone', json=ASKED)
    assert 'x-typesafe-request-id' in reply.headers, sorted(reply.headers)


@check(PROXY)
def pass_through_keeps_the_id_and_the_models():
    reply = through_proxy('GET', '/oi/v1/models')
    equal(reply.status_code, 200)
    assert reply.json()['models'], reply.text
    assert 'x-typesafe-request-id' in reply.headers, sorted(reply.headers)


@check(PROXY)
def pass_through_answers_batches():
    body = {'states': [STATE, 'It rains.'], 'questions': WIRE}
    reply = through_proxy('POST', '/oi/v1/systemone/batch', json=body)
    equal((reply.status_code, len(reply.json()['results'])), (200, 2))


@check(PROXY)
def pass_through_answers_line_by_line():
    body = {'states': [STATE, 'It rains.'], 'questions': WIRE}
    reply = through_proxy('POST', '/oi/v1/systemone/batch', json=body, headers={'accept': 'application/x-ndjson'})
    equal((reply.status_code, len([line for line in reply.text.splitlines() if line.strip()])), (200, 3))


@check(PROXY)
def pass_through_needs_a_key():
    import httpx
    # Its own refusal: 401, and 500 at times.
    assert httpx.get(f'{proxied}/oi/v1/models', timeout=60).status_code in (401, 500)


# jevbench


@check('jevbench')
def every_request_of_its_examples_is_answered():
    import jevbench
    os.environ['JEVBENCH_API_KEY'] = KEY
    report = jevbench.evaluate(jevbench.systemone(f'{URL}/v1/systemone', 'default'), 'examples', cache=None)
    assert not report.errors, report.errors[:1]
    assert report.scores['n_checks'] > 0


# Output


def tell(program, name, why):
    print(json.dumps({'program': program, 'check': name, 'why': why}), flush=True)


def main():
    global proxied
    with tempfile.TemporaryDirectory() as folder:
        process, proxied = begin_proxy(folder)
        try:
            jevcompat('jevcompat with a key', URL, KEY)
            jevcompat('jevcompat without keys', OPEN, None)
            waited = False
            for program, name, function in checks:
                try:
                    if program == PROXY and not waited:
                        waited = True
                        wait_for_proxy(process, proxied, folder)
                    function()
                    tell(program, name, None)
                except Exception as error:
                    tell(program, name, f'{type(error).__name__}: {error}'[:600])
        finally:
            process.terminate()
            process.wait()


main()

// The manual's examples for clients of the DeepL API, unchanged, and what their SDKs send in other languages than ours.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { onEveryGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import type { Startable } from '../../support/start-program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8080';

/** The only code block in the manual's section on a client. */
function linesOf(section: string, language: string): string {
  const blocks = codeBlocks(manualSection('deepl-api', section), language);
  expect(blocks).toHaveLength(1);
  return blocks[0]!;
}

/** `GET` with a form in its body, as `requests` sends `data`; and the statuses for a wrong key. */
const PYTHON = `
import http.client, json, os, urllib.parse
address = urllib.parse.urlsplit("${ADDRESS}")
def call(method, path, key=os.environ["LINGATE_KEY"], body=None, type="application/x-www-form-urlencoded"):
    connection = http.client.HTTPConnection(address.hostname, address.port)
    headers = {"Authorization": "DeepL-Auth-Key " + key, "User-Agent": "deepl-python/1.30.0", "Accept-Encoding": "gzip, deflate", "Accept": "*/*"}
    if body is not None:
        headers["Content-Type"] = type
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())
status, targets = call("GET", "/v2/languages", body=urllib.parse.urlencode({"type": "target"}))
print(status, len(targets), targets[0]["supports_formality"])
status, sources = call("GET", "/v2/languages")
print(status, len(sources), "supports_formality" in sources[0])
print(*call("GET", "/v2/usage"))
status, answer = call("POST", "/v2/translate", body=urllib.parse.urlencode([("target_lang", "DE"), ("text", "one"), ("text", "grüße"), ("formality", "less")]))
print(status, [one["text"] for one in answer["translations"]])
status, answer = call("POST", "/v2/translate", key="invalid", body=json.dumps({"text": ["a"], "target_lang": "DE"}), type="application/json")
print(status, type(answer["message"]).__name__, type(answer["detail"]).__name__)
`;

/** Every request has a body of JSON, even \`GET\`. */
const RUBY = `
require 'json'
require 'net/http'
ADDRESS = URI('${ADDRESS}')
def call(verb, path, body, key = ENV.fetch('LINGATE_KEY'))
  headers = { 'Authorization' => "DeepL-Auth-Key #{key}", 'User-Agent' => 'deepl-ruby/3.8.0', 'Content-Type' => 'application/json' }
  request = verb.new(path, headers)
  request.body = body.to_json
  response = Net::HTTP.start(ADDRESS.host, ADDRESS.port) { |http| http.request(request) }
  [response.code, JSON.parse(response.body)]
end
status, targets = call(Net::HTTP::Get, '/v2/languages', { type: 'target' })
puts [status, targets.size, targets.first['supports_formality']].join(' ')
status, sources = call(Net::HTTP::Get, '/v2/languages', {})
puts [status, sources.size, sources.first.key?('supports_formality')].join(' ')
puts call(Net::HTTP::Get, '/v2/usage', {}).join(' ')
body = { text: ['<p>a</p>'], source_lang: nil, target_lang: 'ES', tag_handling: 'xml', ignore_tags: %w[code span], split_sentences: '1', context: '' }
status, answer = call(Net::HTTP::Post, '/v2/translate', body)
puts [status, answer['translations'].first['text']].join(' ')
puts call(Net::HTTP::Post, '/v2/translate', { text: [nil], target_lang: 'ES' }).first
puts call(Net::HTTP::Post, '/v2/translate', { text: Array.new(10_000, 'a'), target_lang: 'ES' }).first
puts call(Net::HTTP::Get, '/v2/languages', { type: 'invalid' }).first
puts call(Net::HTTP::Post, '/v2/translate', body, 'invalid').first
`;

onEveryGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  let team: TestTeam;
  let folder: string;

  beforeAll(async () => {
    team = await setting.gateway.team();
    folder = await mkdtemp(join(tmpdir(), 'lingate-clients-'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Its output, line by line. Only the address is replaced. */
  async function run(program: Startable, file: string, lines: string): Promise<string[]> {
    await writeFile(join(folder, file), lines.replace(ADDRESS, `http://127.0.0.1:${setting.gateway.port}`));
    const env = { ...process.env, LINGATE_KEY: team.key };
    return (await outputOf(program, [file], { cwd: folder, env })).trimEnd().split('\n');
  }
  const usage = async (): Promise<number | undefined> => {
    const standing = answered(await setting.gateway.store.teams.standing(team.teamId));
    return standing?.openReservations === 0 ? standing.usedCharacters : undefined;
  };

  test('the lines for Node', async () => {
    const [line] = await run('node', 'lines.mjs', linesOf("DeepL's SDK for Node", 'js'));
    expect(line).toMatch(/^\[DE\] Hello, world! \((?:0|13) of 1000000\)$/);
  });

  test('the lines for Python', async () => {
    expect(await run('python3', 'lines.py', linesOf("DeepL's SDK for Python", 'python'))).toEqual(['[DE] Hello, world!']);
  });

  test('the lines for Ruby', async () => {
    expect(await run('ruby', 'lines.rb', linesOf("DeepL's SDK for Ruby", 'ruby'))).toEqual(['[DE] Hello, world!']);
  });

  test('what else the SDK for Python sends', async () => {
    await expect.poll(usage).toBeDefined();
    const used = await usage();
    expect(await run('python3', 'more.py', PYTHON)).toEqual([
      '200 38 False',
      '200 36 False',
      `200 {'character_count': ${used}, 'character_limit': 1000000}`,
      "200 ['[DE] one', '[DE] grüße']",
      '403 str str',
    ]);
  });

  test('what else the SDK for Ruby sends', async () => {
    await expect.poll(usage).toBeDefined();
    const used = await usage();
    expect(await run('ruby', 'more.rb', RUBY)).toEqual([
      '200 38 false',
      '200 36 false',
      `200 {"character_count"=>${used}, "character_limit"=>1000000}`,
      '200 [ES] <p>a</p>',
      '400',
      '413',
      '400',
      '403',
    ]);
  });
});

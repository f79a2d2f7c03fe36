// Changes of keys by each front: the event and the audit entry of each, with what changed and without a secret.
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { digestOf } from '../../support/door/terms.ts';
import { adminClient } from '../../support/admin-client.ts';
import type { Json } from '../../support/admin-client.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../../support/event-receiver.ts';
import { onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { writtenOnce } from '../../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const receiver = await startScriptedReceiver();
afterAll(() => receiver.close());
const config = { plans: { pro: QUOTA_PLAN }, events: { url: receiver.url, secret: EVENTS_SECRET } };

onOneGateway({ store: 'redis', config: { ...config, admin: { token: TOKEN } } }, (setting) => {
  const { call, answered, audits } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const cli = async (...args: readonly string[]): Promise<Json> =>
    parsed(await inProcess([...args, '--json', '--config', fileWith(JSON.stringify(config)), '--store', setting.url])) as Json;

  test('lingate.key.updated and an audit entry for each change that changes something', async () => {
    const { team_id: team } = await cli('team', 'create', '--name', 'Fair', '--plan', 'pro');
    const made = await cli('key', 'create', '--team', String(team), '--mode', 'live', '--label', 'stand', '--characters', '100');
    const [keyId, key] = [String(made['key_id']), String(made['key'])];
    const seen = () => receiver.received.filter(({ subject }) => subject === team);
    /** In the order of the changes: an id ends with its time. */
    const updates = () =>
      seen()
        .filter(({ type }) => type === 'lingate.key.updated')
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        .map(({ data }) => data);
    const operator = await ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
    const page = `/console/teams/${String(team)}/keys/${keyId}`;
    const shown = { key_id: keyId, team_id: team, display: key.slice(0, 12), mode: 'live' };

    await cli('key', 'update', keyId, '--requests-per-second', '5', '--no-characters', '--expires-at', '2099-01-31T18:00:00Z');
    const body = { disabled: true, allowed_addresses: ['10.1.2.3/8', '::1'], label: 'closed' };
    await answered('updateKey', call('PATCH', `/keys/${keyId}`, { body }));
    expect((await operator.submit(page, `${page}/enable`)).status).toBe(303);
    const fields = { label: 'open', expires_at: '', requests_per_second: '', characters: '7', allowed_addresses: '192.0.2.1' };
    expect((await operator.submit(page, page, fields)).status).toBe(303);
    // A change without effect is reported by no front.
    await cli('key', 'update', keyId, '--characters', '7', '--enable');
    await answered('updateKey', call('PATCH', `/keys/${keyId}`, { body: { label: 'open', disabled: false } }));
    await operator.submit(page, page, { ...fields, allowed_addresses: '192.0.2.1/32' });
    await cli('key', 'revoke', keyId);

    const allowed = ['10.0.0.0/8', '::1/128'];
    const dated = { ...shown, requests_per_second: 5, expires_at: '2099-01-31T18:00:00Z' };
    const times = { created_at: expect.any(String) as string, last_used_at: null };
    await expect.poll(() => seen().map(({ type }) => type)).toContain('lingate.key.revoked');
    expect(updates()).toEqual([
      { ...dated, ...times, label: 'stand', status: 'active' },
      { ...dated, ...times, label: 'closed', status: 'disabled', allowed_addresses: allowed },
      { ...dated, ...times, label: 'closed', status: 'active', allowed_addresses: allowed },
      { ...shown, ...times, label: 'open', status: 'active', characters: 7, allowed_addresses: ['192.0.2.1/32'] },
    ]);

    const { entries } = (await answered('listAudit', call('GET', `/audit?team=${String(team)}`))) as { entries: Json[] };
    const changes = entries.filter(({ action }) => action === 'updateKey').toReversed();
    expect(changes.map(({ actor, key_id: id, before, after }) => [String(actor).split(/[:@]/, 1)[0], id, before, after])).toEqual([
      ['cli', keyId, { characters: 100 }, { requests_per_second: 5, expires_at: '2099-01-31T18:00:00Z' }],
      ['admin', keyId, { label: 'stand', status: 'active' }, { label: 'closed', status: 'disabled', allowed_addresses: allowed.join(' ') }],
      ['console', keyId, { status: 'disabled' }, { status: 'active' }],
      [
        'console',
        keyId,
        { label: 'closed', requests_per_second: 5, expires_at: '2099-01-31T18:00:00Z', allowed_addresses: allowed.join(' ') },
        { label: 'open', characters: 7, allowed_addresses: '192.0.2.1/32' },
      ],
    ]);
    // The command line logs a change in its own process.
    expect(
      audits()
        .filter(({ key_id: id }) => id === keyId)
        .map(({ action }) => action),
    ).toEqual(Array.from({ length: 5 }, () => 'updateKey'));
    const everything = JSON.stringify([seen(), entries, setting.gateway.logLines]);
    for (const secret of [key, key.slice(12), digestOf(key), TOKEN, EVENTS_SECRET]) expect(everything).not.toContain(secret);
  });
});

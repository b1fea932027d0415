import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AssayConnection } from '../../src/client/connect.ts';
import { forgetHost, listSandboxes } from '../../src/client/sandboxes.ts';
import { sayHostLives } from '../../src/store/hosts.ts';
import { planSession } from '../../src/store/sessions.ts';
import { attemptKey, openTestStore } from '../store/support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
let connection: Pick<AssayConnection, 'db'>;
beforeAll(async () => {
  store = await openTestStore();
  connection = { db: store.pool };
});
afterAll(() => store.close());

const plan = (hostId: string, sessionId: string) =>
  planSession(store.pool, {
    sessionId,
    key: attemptKey('sandboxes', 1),
    tryNumber: 1,
    purpose: 'task',
    kind: 'host',
    hostId,
    workflowId: 'run/sandboxes',
    executionId: 'x',
  });

test('sessions of a host that will not come back are forgotten; those of one whose worker lives are not', async () => {
  await plan('gone', 's1');
  await plan('gone', 's2');
  await plan('here', 's3');
  for (const host of ['gone', 'here']) await sayHostLives(store.pool, host, {});
  await expect(forgetHost(connection, 'gone')).rejects.toThrow('The worker of host "gone" lives');
  await store.pool.query(`update hosts set seen_at = now() - interval '2 minutes' where host_id = 'gone'`);
  expect(await forgetHost(connection, 'gone')).toEqual(['s1', 's2']);
  expect((await listSandboxes(connection)).map(({ sessionId }) => sessionId)).toEqual(['s3']);
  await expect(forgetHost(connection, 'gone')).rejects.toThrow('Host "gone" has no session');
});

import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  OpenRequest,
} from '../../src/environments/environment.ts';
import { reapHostSessions } from '../../src/environments/reaper.ts';
import { filesContract, pieces, text, type Open } from './contract-files.ts';
import { countRunning, makeMark } from './marked-processes.ts';
import { run } from './test-session.ts';

export type ContractSubject = {
  readonly kind: string;
  /** Two providers made in a row stand for two workers of one host. */
  readonly make: () => Promise<EnvironmentProvider>;
  /** Sessions see neither each other's files nor their processes. */
  readonly isolated: boolean;
  /** What `open` needs besides an id. */
  readonly request?: () => Promise<Partial<OpenRequest>>;
  /** Why it cannot be run here; null = it can. */
  readonly skip: string | null;
};

/** What every environment keeps; each is run with it. */
export function environmentContract(subject: ContractSubject): void {
  const open = async (
    more: Partial<OpenRequest> = {},
  ): Promise<{ provider: EnvironmentProvider; session: EnvironmentSession }> => {
    const provider = await subject.make();
    const given = await subject.request?.();
    const session = await provider.open({ sessionId: `s/${randomUUID()}`, variables: {}, ...given, ...more });
    onTestFinished(() => provider.close(session.handle));
    return { provider, session };
  };

  if (subject.skip !== null) console.warn(`skipped: environment ${subject.kind}: ${subject.skip}`);
  describe.skipIf(subject.skip !== null)(`environment ${subject.kind}`, { timeout: 60_000 }, () => {
    filesContract(open);
    commandsContract(open);
    endsContract(open);
    sessionsContract(subject, open);
  });
}

function commandsContract(open: Open): void {
  test('commands get exit codes, order of output, stdin, directory and variables, and none of the worker’s', async () => {
    process.env['ASSAY_CANARY'] = 'leaked';
    onTestFinished(() => void delete process.env['ASSAY_CANARY']);
    const { session } = await open({ variables: { COLOUR: 'blue' } });
    const ordered = await run(session, 'echo one; echo two >&2; echo three; exit 3');
    expect(ordered).toMatchObject({
      exitCode: 3,
      signal: null,
      timedOut: false,
      output: 'one\ntwo\nthree\n',
    });
    expect(ordered.outputBytes).toBe(14);
    const list = await run(session, ['printf', '%s|', 'a b', '$HOME']);
    expect(list.output).toBe('a b|$HOME|');
    expect((await run(session, 'cat', { stdin: 'in' })).output).toBe('in');
    expect((await run(session, 'wc -c', { stdin: pieces(50, 64_000) })).output.trim()).toBe('3200000');
    expect(await run(session, 'exit 0', { stdin: 'x'.repeat(3_000_000) })).toMatchObject({ exitCode: 0 });
    const env = (await run(session, 'mkdir -p d; env', { variables: { ONE: 'a b\n$c' } })).output;
    expect(env).toContain('COLOUR=blue');
    expect(env).toContain('ONE=a b\n$c');
    expect(env).not.toContain('leaked');
    expect((await run(session, 'cd ..; pwd; cd -; pwd', { cwd: 'd' })).output).toMatch(/\/d\n$/);
  });

  test('stderr is apart from the output where it is asked for', async () => {
    const { session } = await open();
    const said = { output: '', error: '' };
    const result = await run(session, `pwd; echo oops >&2; echo "$0"; exit 3`, {
      onOutput: (chunk) => void (said.output += Buffer.from(chunk).toString()),
      onErrorOutput: (chunk) => void (said.error += Buffer.from(chunk).toString()),
    });
    expect(result).toMatchObject({ exitCode: 3, output: said.output });
    expect(said.error).toBe('oops\n');
    expect(said.output.split('\n')[0]).toBe(session.workDirectory);
    expect(said.output).not.toContain('oops');
  });

  test('what cannot be started is told from what failed', async () => {
    const { session } = await open();
    const missing = await run(session, ['no-such-program']);
    expect(missing.spawnError !== null || missing.exitCode === 127 || missing.exitCode === 126).toBe(true);
    expect(await run(session, 'no-such-program')).toMatchObject({ exitCode: 127, spawnError: null });
    expect(await run(session, 'echo > f; ./f')).toMatchObject({ exitCode: 126, spawnError: null });
    const nowhere = await run(session, 'true', { cwd: 'nowhere' });
    expect(nowhere.exitCode === 0).toBe(false);
    const killed = await run(session, 'kill -9 $$');
    expect([killed.exitCode, killed.signal].some((value) => value === 'SIGKILL' || value === 137)).toBe(true);
  });

  test('output of any size streams by, its ends are kept, and memory stays flat', async () => {
    const { session } = await open();
    const before = process.memoryUsage().rss;
    let seen = 0;
    const onOutput = (chunk: Uint8Array): void => void (seen += chunk.length);
    const result = await run(session, 'echo first; head -c 200000000 /dev/zero; echo last', { onOutput });
    expect(result.outputBytes).toBe(200_000_011);
    expect(seen).toBe(200_000_011);
    expect(result.output.startsWith('first\n')).toBe(true);
    expect(result.output.endsWith('last\n')).toBe(true);
    expect(result.output.length).toBeLessThan(3_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  test('output comes while the command runs', async () => {
    const { session } = await open();
    const first = Promise.withResolvers<number>();
    const onOutput = (): void => first.resolve(performance.now());
    const running = run(session, 'echo now; sleep 1', { onOutput });
    const seenAt = await first.promise;
    await running;
    expect(performance.now() - seenAt).toBeGreaterThan(700);
  });
}

function endsContract(open: Open): void {
  test('C22 AC-S1 AC-S2 a time-out ends the tree, also what left it, and returns the output so far', async () => {
    const { session } = await open();
    const mark = makeMark();
    const escapes = `trap '' TERM; echo begun; setsid sh -c '(sleep ${mark}) & sleep ${mark}' & (setsid sleep ${mark} &) ; sleep ${mark} & sleep ${mark}`;
    const running = run(session, escapes, { timeoutMs: 1_000 });
    await expect.poll(() => countRunning(mark)).toBe(5);
    const result = await running;
    expect(result).toMatchObject({ timedOut: true, output: 'begun\n' });
    expect(result.durationMs).toBeGreaterThanOrEqual(1_000);
    expect(result.durationMs).toBeLessThan(8_000);
    expect(countRunning(mark)).toBe(0);
    expect((await run(session, 'echo alive')).output).toBe('alive\n');
  });

  test('C22 a descendant that holds the output keeps nobody waiting, and lives until the processes are ended', async () => {
    const { session } = await open();
    const mark = makeMark();
    const result = await run(session, `sleep ${mark} & echo done`);
    expect(result).toMatchObject({ exitCode: 0, output: 'done\n', timedOut: false });
    expect(result.durationMs).toBeLessThan(3_000);
    expect(countRunning(mark)).toBe(1);
    await session.endProcesses();
    expect(countRunning(mark)).toBe(0);
    expect((await run(session, 'echo alive')).output).toBe('alive\n');
  });

  test('an abort ends the tree and rejects with its reason', async () => {
    const { session } = await open();
    const mark = makeMark();
    const controller = new AbortController();
    const request = { timeoutMs: 20_000, stdin: null, cwd: null, variables: {} };
    const running = session.exec(
      { command: `setsid sleep ${mark} & sleep ${mark}`, ...request },
      controller.signal,
    );
    await expect.poll(() => countRunning(mark)).toBe(2);
    controller.abort(new Error('told to end'));
    await expect(running).rejects.toThrow('told to end');
    expect(countRunning(mark)).toBe(0);
  });

  test('processes that are ended twice, or that ignore SIGTERM, are gone', async () => {
    const { session } = await open();
    const mark = makeMark();
    await run(session, `(trap '' TERM; while :; do sleep ${mark}; done) > /dev/null 2>&1 & sleep 0.2`);
    await session.endProcesses();
    await session.endProcesses();
    expect(countRunning(mark)).toBe(0);
  });
}

function sessionsContract(subject: ContractSubject, open: Open): void {
  test('a second open of a session returns it, and another worker attaches to it', async () => {
    const { provider, session } = await open({ variables: { COLOUR: 'blue' } });
    await session.writeFile('f', Buffer.from('1'));
    const given = await subject.request?.();
    const again = await provider.open({ ...given, sessionId: session.handle.sessionId, variables: {} });
    expect(await again.listFiles('.')).toEqual(['f']);
    const other = await subject.make();
    const attached = await other.attach(session.handle);
    expect(attached === null ? null : (await run(attached, 'echo $COLOUR; ls')).output).toBe('blue\nf\n');
    expect(await other.attach({ ...session.handle, sessionId: 'never' })).toBeNull();
    expect(await other.attach({ ...session.handle, kind: 'another' })).toBeNull();
  });

  test('AC-A12 AC-S2 close ends what runs, happens once, and is harmless for a session that never was', async () => {
    const { provider, session } = await open();
    const mark = makeMark();
    await run(session, `mkdir -p a/b; touch a/b/c; chmod 555 a/b a; setsid sleep ${mark} & sleep ${mark} &`);
    await provider.close(session.handle);
    await provider.close(session.handle);
    await provider.close({ ...session.handle, sessionId: 'never' });
    expect(countRunning(mark)).toBe(0);
    expect(await provider.attach(session.handle)).toBeNull();
    await expect(run(session, 'true')).rejects.toThrow(/gone/);
  });

  test('a copy has the files as they are, and the first session’s processes have ended', async () => {
    const { provider, session } = await open();
    const mark = makeMark();
    await run(
      session,
      `mkdir a; echo hi > a/f; chmod 640 a/f; ln -s f a/l; echo x > shut; chmod 000 shut; sleep ${mark} &`,
    );
    const given = await subject.request?.();
    const request = { ...given, sessionId: `${session.handle.sessionId}/grade-1`, variables: {} };
    const copy = await provider.copy(session, request);
    onTestFinished(() => provider.close(copy.handle));
    expect(countRunning(mark)).toBe(0);
    expect((await run(copy, 'cat a/l; stat -c %a a/f; echo other > a/f; rm -f shut; ls')).output).toBe(
      'hi\n640\na\n',
    );
    expect(text(await session.readFile('a/f'))).toBe('hi\n');
    const again = await provider.copy(session, request);
    expect(text(await again.readFile('a/f'))).toBe('hi\n');
  });

  test('AC-S4 two sessions at the same time keep apart', async () => {
    const [one, two] = await Promise.all([open(), open()]);
    const mark = makeMark();
    await run(one.session, `echo secret > f; echo secret > /tmp/assay-contract-${mark}; sleep ${mark} &`);
    expect(await two.session.listFiles('.')).toEqual([]);
    if (!subject.isolated) {
      await run(one.session, `rm /tmp/assay-contract-${mark}`);
      return;
    }
    const look = `cat /tmp/assay-contract-${mark} ${one.session.handle.root}/work/f;
      for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep -c '^sleep ${mark}'`;
    const { output } = await run(two.session, look);
    expect(output).not.toContain('secret\n');
    expect(output).toMatch(/^0$/m);
  });

  test('AC-S5 the reaper removes sessions whose owner has ended, and nothing when it cannot ask', async () => {
    const [kept, gone] = await Promise.all([open(), open()]);
    const mark = makeMark();
    await run(gone.session, `setsid sleep ${mark} &`);
    const environment = await subject.make();
    const handles = (await environment.listSessions()).map(({ sessionId }) => sessionId);
    expect(handles).toEqual(
      expect.arrayContaining([kept.session.handle.sessionId, gone.session.handle.sessionId]),
    );
    const refuse = (): Promise<boolean> => Promise.reject(new Error('Temporal does not answer'));
    await expect(reapHostSessions({ environment, isOpen: refuse })).rejects.toThrow('does not answer');
    expect(countRunning(mark)).toBe(1);
    const isOpen = (handle: { sessionId: string }): Promise<boolean> =>
      Promise.resolve(handle.sessionId !== gone.session.handle.sessionId);
    expect((await reapHostSessions({ environment, isOpen })).map(({ sessionId }) => sessionId)).toEqual([
      gone.session.handle.sessionId,
    ]);
    expect(countRunning(mark)).toBe(0);
    expect(await environment.attach(kept.session.handle)).not.toBeNull();
  });
}

import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { SessionFileError } from '../../src/environments/environment.ts';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  OpenRequest,
} from '../../src/environments/environment.ts';
import { run } from './test-session.ts';

/** Opens a session that is closed at the end of the test. */
export type Open = (
  more?: Partial<OpenRequest>,
) => Promise<{ provider: EnvironmentProvider; session: EnvironmentSession }>;

export const text = (value: Uint8Array): string => Buffer.from(value).toString('utf8');

export async function* pieces(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(bytes, 'abcdefgh');
  for (let index = 0; index < count; index += 1) yield await Promise.resolve(piece);
}

async function countBytes(stream: Readable): Promise<number> {
  let total = 0;
  for await (const chunk of stream) total += (chunk as Buffer).length;
  return total;
}

/** Files of a session, as every environment keeps them. */
export function filesContract(open: Open): void {
  test('files go in and out, and directories are made', async () => {
    const { session } = await open();
    const bytes = Buffer.from([0, 1, 2, 255, 10, 13]);
    await session.writeFile('deep/er/f.bin', bytes);
    await session.writeFile("it's $HOME; -n.txt", Buffer.from('x'));
    expect(Buffer.from(await session.readFile('deep/er/f.bin'))).toEqual(bytes);
    expect(await session.listFiles('.')).toEqual(['deep/', "it's $HOME; -n.txt"]);
    expect(await session.listFiles('deep')).toEqual(['er/']);
    expect(await session.findFiles('.')).toEqual([
      { path: 'deep/er/f.bin', bytes: 6 },
      { path: "it's $HOME; -n.txt", bytes: 1 },
    ]);
    await session.writeFile('deep/er/f.bin', Buffer.from('short'));
    expect((await run(session, 'cat deep/er/f.bin; pwd -P')).output).toMatch(/^short\/.*\n$/);
  });

  test('a path that cannot be read or written says why', async () => {
    const { session } = await open();
    await run(
      session,
      'mkdir dir; mkfifo pipe; ln -s /etc link; truncate -s 9M big || head -c 9437184 /dev/zero > big',
    );
    await expect(session.readFile('none')).rejects.toThrow('"none" does not exist.');
    await expect(session.readFile('dir')).rejects.toThrow('"dir" is a directory');
    await expect(session.readFile('pipe')).rejects.toThrow('"pipe" is not a regular file.');
    await expect(session.readFile('big')).rejects.toThrow('"big" has 9437184 bytes; at most 8388608');
    await expect(session.readFile('../x')).rejects.toBeInstanceOf(SessionFileError);
    await expect(session.readFile('/etc/passwd')).rejects.toThrow('outside the working directory');
    await expect(session.readFile('link/passwd')).rejects.toThrow('outside the working directory');
    await expect(session.writeFile('link/x', Buffer.from(''))).rejects.toBeInstanceOf(SessionFileError);
    await expect(session.writeFile('dir', Buffer.from(''))).rejects.toThrow('is a directory');
    await expect(session.listFiles('none')).rejects.toThrow('"none" does not exist.');
    await expect(session.download('none')).rejects.toThrow('"none" does not exist.');
  });

  test('a file of 200 MB goes in and out with flat memory', async () => {
    const { session } = await open();
    const before = process.memoryUsage().rss;
    await session.upload('in/big', pieces(1_000, 200_000));
    expect((await run(session, 'wc -c < in/big')).output.trim()).toBe('200000000');
    expect(await countBytes(await session.download('in/big'))).toBe(200_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(120_000_000);
  });

  test('a grader has a folder of its own that a command of the session can use', async () => {
    const { session } = await open();
    const [one, two] = [await session.openGraderFolder(), await session.openGraderFolder()];
    expect(one.path).not.toBe(two.path);
    await one.writeFile('check.sh', Buffer.from('#!/bin/sh\necho "{}" > "$1/report.json"\n'));
    const result = await run(session, [`${one.path}/check.sh`, one.path]);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(text(await one.readFile('report.json'))).toBe('{}\n');
    await expect(two.readFile('report.json')).rejects.toThrow('does not exist');
    expect(await session.listFiles('.')).toEqual([]);
  });
}

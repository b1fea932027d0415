import { expect, test } from 'vitest';
import { joinDeliveries } from '../../src/activities/join-deliveries.ts';

/** A step that ends when it is told to, or with the reason of its abort. */
function createStep() {
  const starts: string[] = [];
  const ended = Promise.withResolvers<string>();
  const deliver = joinDeliveries({
    toKey: (input: string) => input,
    run: (input, signal) => {
      starts.push(input);
      signal.addEventListener('abort', () => ended.reject(signal.reason), { once: true });
      return ended.promise;
    },
  });
  return { starts, end: ended.resolve, deliver };
}

test('a delivery that comes while an earlier one runs is answered by that one, and the next one runs again', async () => {
  const { starts, end, deliver } = createStep();
  const { signal } = new AbortController();
  const deliveries = [deliver('one', signal), deliver('one', signal), deliver('two', signal)];
  expect(starts).toEqual(['one', 'two']);
  end('done');
  expect(await Promise.all(deliveries)).toEqual(['done', 'done', 'done']);
  await deliver('one', signal);
  expect(starts).toEqual(['one', 'two', 'one']);
});

test('a cancel that reaches the later delivery ends what the earlier one began', async () => {
  const { deliver } = createStep();
  const later = new AbortController();
  const first = deliver('one', new AbortController().signal);
  const second = deliver('one', later.signal);
  later.abort(new Error('cancelled'));
  await expect(first).rejects.toThrow('cancelled');
  await expect(second).rejects.toThrow('cancelled');
});

test('a delivery that was cancelled before it came ends the step, too', async () => {
  const { deliver } = createStep();
  const first = deliver('one', new AbortController().signal);
  await expect(deliver('one', AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
  await expect(first).rejects.toThrow('cancelled');
});

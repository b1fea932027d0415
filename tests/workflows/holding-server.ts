import type { ServerResponse } from 'node:http';
import { answerSum, sendJson, startModelServer } from './model-server.ts';

/** An endpoint that keeps every call but the first waiting until it is let go. */
export async function startHolding({ onAnswer }: { readonly onAnswer?: () => void } = {}) {
  const held: { readonly model: string; readonly answer: () => void }[] = [];
  const arrived: string[] = [];
  let most = 0;
  const server = await startModelServer((response: ServerResponse, seen, number) => {
    const model = String(seen.body['model']);
    const answer = (): void => {
      onAnswer?.();
      sendJson(response, answerSum(seen));
    };
    arrived.push(model);
    if (number === 1) return answer();
    held.push({ model, answer });
    most = Math.max(most, held.length);
  });
  return {
    server,
    arrived,
    most: () => most,
    held: () => held.map(({ model }) => model),
    /** Lets the oldest call of a model go. */
    release: (model: string): void => {
      const [one] = held.splice(
        held.findIndex((call) => call.model === model),
        1,
      );
      one?.answer();
    },
    /** Lets the newest call go. */
    releaseLast: (): void => held.pop()?.answer(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

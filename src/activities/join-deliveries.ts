type Running<Result> = { readonly cut: AbortController; readonly result: Promise<Result> };

/**
 * A delivery of a step that comes while an earlier one of this process still runs is answered by that one. A cancel
 * reaches only the delivery that the server knows, and ends the step whichever of them began it.
 */
export function joinDeliveries<Input, Result>(step: {
  readonly toKey: (input: Input) => string;
  readonly run: (input: Input, signal: AbortSignal) => Promise<Result>;
}): (input: Input, signal: AbortSignal) => Promise<Result> {
  const running = new Map<string, Running<Result>>();
  const start = (key: string, input: Input): Running<Result> => {
    const cut = new AbortController();
    const result = step.run(input, cut.signal).finally(() => running.delete(key));
    const started = { cut, result };
    running.set(key, started);
    return started;
  };
  return (input, signal) => {
    const key = step.toKey(input);
    const { cut, result } = running.get(key) ?? start(key, input);
    const onAbort = (): void => cut.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    return result;
  };
}

// The model itself: node-llama-cpp on the CPU. This is the only file that imports it.
import { getLlama, LlamaCompletion, LlamaLogLevel } from 'node-llama-cpp';

/**
 * Loads a GGUF file. Uses the prebuilt binary of the platform's package; nothing is compiled or downloaded.
 *
 * @param {{ path: string, name: string, contextTokens: number }} options
 * @returns {Promise<import('./text-model.ts').TextModel & { dispose: () => Promise<void> }>}
 */
export async function loadLlamaModel({ path, name, contextTokens }) {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
    // Threads wait for each other at every step of so small a model: on a busy machine one alone is faster.
    maxThreads: 1,
  });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: contextTokens, sequences: 1 });
  const contextSequence = context.getSequence();
  const completion = new LlamaCompletion({ contextSequence, autoDisposeSequence: false });
  const countTokens = (text) => model.tokenize(text).length;
  return {
    name,
    contextTokens,
    countTokens,
    async complete({ prompt, maxTokens, temperature, topP, seed, stop, signal, onText }) {
      const before = contextSequence.tokenMeter.usedOutputTokens;
      const { metadata } = await completion.generateCompletionWithMeta(prompt, {
        maxTokens,
        temperature,
        ...(topP === null ? {} : { topP }),
        ...(seed === null ? {} : { seed }),
        customStopTriggers: stop,
        signal,
        onTextChunk: onText,
      });
      return {
        finishReason: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
        inputTokens: countTokens(prompt),
        outputTokens: contextSequence.tokenMeter.usedOutputTokens - before,
      };
    },
    dispose: () => llama.dispose(),
  };
}

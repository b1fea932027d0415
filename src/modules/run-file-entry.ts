/**
 * What `import 'assay'` gives inside the process of a run file: the same names as the package, without the client
 * and its connections, for such a process starts often.
 */
export { z } from 'zod';
export { defineProvider } from './define-provider.ts';
export { defineConfig, defineRun } from './define-run.ts';
export { defineScorer } from './define-scorer.ts';
export { defineSimilarity } from './define-similarity.ts';
export { fromAutoevals } from './from-autoevals.ts';
export { defineTool } from './define-tool.ts';

/** A program that starts runs is no run file. */
export const AssayClient = {
  connect: (): never => {
    throw new Error('AssayClient cannot be used inside a run file: start runs from a program of its own');
  },
};

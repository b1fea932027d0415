// What `import 'assay'` gives: a checkout runs its sources, an installed package its built files (as bin/assay does).
import { existsSync } from 'node:fs';

const source = new URL('./src/index.ts', import.meta.url);
const installed = import.meta.url.includes('/node_modules/') || !existsSync(source);
const assay = await import(installed ? './dist/index.js' : './src/index.ts');

export const {
  AssayClient,
  defineConfig,
  defineProvider,
  defineRun,
  defineScorer,
  defineSimilarity,
  defineTool,
  fromAutoevals,
  z,
} = assay;

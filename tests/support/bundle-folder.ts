import { fileURLToPath } from 'node:url';

/** Bundles are named by their sources, so that all tests take the one that the first of them made. */
export const BUNDLE_FOLDER = fileURLToPath(
  new URL('../../node_modules/.cache/assay-bundles', import.meta.url),
);

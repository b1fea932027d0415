import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';

/** What this program really has. */
export const CATALOG = createBuiltInCatalog();

// Writes the JSON Schemas of run files and suites. Runs on the project's Node: `node scripts/run.mjs node scripts/schemas.mjs`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { toJsonSchemas } from '../src/config/json-schema.ts';
import { toScorerCatalog } from '../src/scorers/lookup.ts';

mkdirSync('schemas', { recursive: true });
for (const [name, schema] of Object.entries(toJsonSchemas(toScorerCatalog()))) {
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
}

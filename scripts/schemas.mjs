// Writes the JSON Schemas of run files, suites and reports. Runs on the project's Node: `node scripts/run.mjs node scripts/schemas.mjs`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { toJsonSchemas } from '../src/config/json-schema.ts';
import { toComparisonJsonSchema } from '../src/reports/comparison-schema.ts';
import { toReportJsonSchema } from '../src/reports/report-schema.ts';
import { toScorerCatalog } from '../src/scorers/lookup.ts';

mkdirSync('schemas', { recursive: true });
const schemas = {
  ...toJsonSchemas(toScorerCatalog()),
  report: toReportJsonSchema(),
  comparison: toComparisonJsonSchema(),
};
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
}

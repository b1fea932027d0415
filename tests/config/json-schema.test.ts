import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { toJsonSchemas } from '../../src/config/json-schema.ts';
import { createTemplates } from '../../src/config/templates.ts';
import { CATALOG } from './catalog.ts';

const schemas = toJsonSchemas(CATALOG.scorers);
const validate = new Ajv2020({ strict: false });

test.each(['run', 'suite'] as const)(
  'the committed %s schema is the generated one (else: node scripts/schemas.mjs)',
  (name) => {
    const committed: unknown = JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'));
    expect(committed).toEqual(schemas[name]);
  },
);

test('the schemas accept the files of assay init and refuse a mistyped key', () => {
  const [run, suite] = createTemplates('.').map(({ text }) => parse(text) as { [key: string]: unknown });
  const isRun = validate.compile(schemas.run);
  const isSuite = validate.compile(schemas.suite);
  expect([isRun(run), isRun.errors]).toEqual([true, null]);
  expect([isSuite(suite), isSuite.errors]).toEqual([true, null]);
  expect(isRun({ ...run, budget: {} })).toBe(false);
  expect(isRun({ ...run, suite })).toBe(true);
  expect(isSuite({ ...suite, scorers: [{ kind: 'numeric', tolerence: 1 }] })).toBe(false);
});

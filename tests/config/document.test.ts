import { expect, test } from 'vitest';
import { decodeSuite, encodeSuite, fromDocument, toDocument } from '../../src/config/document.ts';
import { loadFiles } from './support.ts';

const load = () =>
  loadFiles({
    'run.yaml': `
models: [mock:oracle]
suite: s.yaml
harness: { kind: agent, tools: [bash] }
environment: { kind: host, variables: { A: b } }
execution: { seed: 3 }
context: { tenant: acme }
`,
    's.yaml':
      'cases:\n  - { id: "lone \\ud800", input: "a\\0b", target: [1.10, { ok: true }], files: { f: hello } }\n  - { input: [{ role: user, content: hi }], target: no, limits: { attemptTokens: 9 } }\n',
  });

const readJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a loaded run goes through JSON and back without loss', async () => {
  const loaded = await load();
  const { document, blobs } = toDocument(loaded);
  const back = await fromDocument(
    readJson(document),
    async (digest) => blobs.get(digest) ?? new Uint8Array(),
  );
  const { files, ...rest } = loaded;
  expect(back).toEqual({ ...rest, fileDigests: [...files.keys()] });
});

test('a document is small: suites and files are blobs of their own', async () => {
  const { document, blobs } = toDocument(await load());
  expect(JSON.stringify(document)).not.toContain('hello');
  expect([...blobs.keys()].toSorted()).toEqual(
    [...document.files, ...Object.values(document.suites)].toSorted(),
  );
});

test('equal runs give equal documents', async () => {
  const [one, two] = [toDocument(await load()), toDocument(await load())];
  expect(one.document).toEqual(two.document);
});

test('a document that was changed outside is refused by name', async () => {
  const { document, blobs } = toDocument(await load());
  const loadBlob = async (digest: string): Promise<Uint8Array> => blobs.get(digest) ?? new Uint8Array();
  const changed = { ...document, spec: { ...document.spec, extra: 1 } };
  await expect(fromDocument(changed, loadBlob)).rejects.toThrow(
    'The run document is not one of this version: spec',
  );
  await expect(fromDocument({ ...document, format: 2 }, loadBlob)).rejects.toThrow('format');
  await expect(fromDocument({ ...document, suites: {} }, loadBlob)).rejects.toThrow('has no suite "s.yaml"');
  await expect(fromDocument(document, async () => Buffer.from('{}'))).rejects.toThrow('holds other bytes');
});

test('a suite of many cases is encoded a line a case', async () => {
  const { suites } = await load();
  const [suite] = [...suites.values()];
  if (suite === undefined) throw new Error('no suite');
  const [first] = suite.cases;
  if (first === undefined) throw new Error('no case');
  const many = { ...suite, cases: Array.from({ length: 1000 }, () => first) };
  const bytes = encodeSuite(many);
  expect(Buffer.from(bytes).toString().split('\n')).toHaveLength(1002);
  expect(decodeSuite(bytes)).toEqual(many);
});

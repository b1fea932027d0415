import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasStack } from '../../src/cli/open-assay.ts';

test('a data folder whose stack file was damaged still has its runs', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-data-'));
  try {
    expect(hasStack({ databaseUrl: null, dataDir })).toBe(false);
    writeFileSync(join(dataDir, 'postgres.password'), 'word');
    writeFileSync(join(dataDir, 'stack.json'), '{"format":7');
    expect(hasStack({ databaseUrl: null, dataDir })).toBe(true);
    expect(hasStack({ databaseUrl: 'postgres://host/db', dataDir: '/nowhere' })).toBe(true);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

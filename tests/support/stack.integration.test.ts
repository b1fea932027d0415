import { expect, test } from 'vitest';
import { openDatabase } from '../../src/local/postgres.ts';
import { probeTemporal } from '../../src/local/temporal-server.ts';
import { connectTestTemporal, createTestDatabase } from './stack.ts';

test('the test run has one Postgres and gives each file an empty database of its own', async () => {
  const database = await createTestDatabase();
  expect(await openDatabase(database.databaseUrl)).toMatch(/^18\./);
  await database.drop();
  await expect(openDatabase(database.databaseUrl)).rejects.toThrow('does not exist');
});

test('the test run has one Temporal server', async () => {
  const temporal = await connectTestTemporal();
  await probeTemporal(temporal.temporalAddress, temporal.namespace);
  expect(process.env['ASSAY_TEST_TEMPORAL_ADDRESS']).toBe(temporal.temporalAddress);
  await temporal.close();
});

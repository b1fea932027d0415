import { afterAll, beforeAll, beforeEach } from 'vitest';
import { environmentContract } from './contract-suite.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';
import { makeDirectory } from './test-session.ts';

const skip = findEngineProblem();
let engine: TestEngine | null = null;
let root = '';
beforeAll(async () => {
  engine = skip === null ? await startEngine() : null;
}, 60_000);
afterAll(() => engine?.stop(), 60_000);
beforeEach(async () => {
  root = await makeDirectory();
});

environmentContract({
  kind: 'docker',
  isolated: true,
  skip,
  make: () =>
    engine === null ? Promise.reject(new Error('no engine')) : Promise.resolve(engine.create(root)),
  request: () => Promise.resolve({ image: IMAGE }),
});

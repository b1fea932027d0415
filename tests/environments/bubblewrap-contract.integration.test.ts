import { beforeEach } from 'vitest';
import { createBubblewrap, describeBubblewrap, makeSessionsFolder } from './bubblewrap-subject.ts';
import { environmentContract } from './contract-suite.ts';

let root = '';
beforeEach(async () => {
  root = await makeSessionsFolder();
});

environmentContract({
  kind: 'bubblewrap',
  isolated: true,
  skip: (await describeBubblewrap()).problem,
  make: () => Promise.resolve(createBubblewrap(root)),
});

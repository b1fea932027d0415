import { testVictims } from './victim-tests.ts';

testVictims(['postgres', 'temporal', 'all']);

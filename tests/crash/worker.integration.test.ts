import { testVictims } from './victim-tests.ts';

testVictims(['worker', 'command']);

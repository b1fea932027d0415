import { expect, test } from 'vitest';
import { chooseFormat } from '../../src/cli/report-format.ts';

test('the name of the file chooses the form of a report, and a form that does not exist is refused', () => {
  expect(chooseFormat(undefined, undefined)).toBe('table');
  expect(chooseFormat(undefined, 'out/board.MD')).toBe('markdown');
  expect(chooseFormat(undefined, 'board.json')).toBe('json');
  expect(chooseFormat(undefined, 'board.txt')).toBe('table');
  expect(chooseFormat(undefined, 'board.csv')).toBe('csv');
  expect(chooseFormat(undefined, 'page.HTML')).toBe('html');
  expect(chooseFormat(undefined, 'junit.xml')).toBe('junit');
  expect(() => chooseFormat(undefined, 'board.pdf')).toThrow('"board.pdf": a report has no such form');
  expect(chooseFormat('json', 'board.csv')).toBe('json');
});

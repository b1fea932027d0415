import { expect, test } from 'vitest';
import { judge, score } from './support.ts';

const choices = ['red', 'green', 'blue', 'yellow'];

test.each([
  'ANSWER: $B$',
  '**Answer: (B)**',
  'Answer: b.',
  'The answer is B. Many people pick A by mistake.',
  'Answer: which one is a colour?\nLet me think.\nANSWER: B',
  String.raw`\boxed{\text{B}}`,
  'B) green',
  String.raw`First I took \boxed{C}, but it is \boxed{B}.`,
])('F05 reads B in %j', async (answer) => {
  expect(await score('choice', { answer, target: 'B', choices })).toMatchObject({ value: 1, pass: true });
});

test.each([
  ['ANSWER: None of the above', 'A'],
  ['ANSWER: None of the above', 'B'],
  ["Answer: Don't know", 'D'],
  ['Answer: Don’t know', 'D'],
  ["Answer: I don't know", 'A'],
])('F05 reads no option in %j', async (answer, target) => {
  const verdict = await score('choice', { answer, target, choices });
  expect(verdict).toMatchObject({ kind: 'scored', value: 0, metrics: { chosen: [] } });
  expect(verdict.explanation).toContain('no option could be read');
});

test('F05 letters beyond the options are no options', async () => {
  const answer = 'The energy is 7 MeV, so option (B)';
  expect(await judge('choice', { answer, target: 'B', choices })).toBe(1);
});

test('F05 a pronoun is no option among ten', async () => {
  const ten = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((letter) => `option ${letter}`);
  const answer = 'The answer is C, as I worked out above.';
  expect(await score('choice', { answer, target: 'C', choices: ten })).toMatchObject({
    metrics: { chosen: ['C'] },
  });
});

test('F05 several right letters are a set', async () => {
  const given = {
    answer: 'ANSWER: A, B, and C',
    target: ['A', 'B', 'C'],
    choices,
    options: { multiple: true },
  };
  expect(await judge('choice', given)).toBe(1);
  expect(await judge('choice', { ...given, target: ['A', 'B'] })).toBe(0);
  expect(await judge('choice', { ...given, options: {} })).toBe(0);
});

test.each([
  ['B', 'B'],
  ['(b)', 'B'],
  ['`B`', 'B'],
  ['B. green', 'B'],
  ['B: green', 'B'],
  ['green', 'B'],
  ['Answer: green', 'B'],
  ['Answer: B because it is green', 'B'],
  ['**Final Answer:** B', 'B'],
  ['## Answer\nB', 'B'],
  ['Answer:\n\n(B) green', 'B'],
  ['The correct answer is: **B**', 'B'],
  ['The best option is B, not A.', 'B'],
  ['B is the correct answer.', 'B'],
  ['I would go with C', 'C'],
  ['Thinking about it, A looks good.\nStill, D is greener.\n\nD', 'D'],
  ['Answer: Ｂ', 'B'],
  ['The answer is $\\boxed{B}$.', 'B'],
  ['Answer: A red', 'A'],
  ['Answer: A because', 'A'],
  ['ANSWER: B\nExplanation: if the answer is A, then blue is wrong.', 'B'],
])('answer %j chooses %s', async (answer, letter) => {
  expect(await score('choice', { answer, target: letter, choices })).toMatchObject({
    metrics: { chosen: [letter] },
  });
});

test.each([
  'A colour is what we see.',
  'Answer: a nice colour',
  'Vitamin C is good for you.',
  'Answer: B-vitamins',
  'The answer is not A.',
  'I am not sure.',
  'Answer: E',
  '',
])('answer %j chooses nothing', async (answer) => {
  expect(await score('choice', { answer, target: 'A', choices })).toMatchObject({
    value: 0,
    metrics: { chosen: [] },
  });
});

test('an answer that hedges between options is wrong', async () => {
  const verdict = await score('choice', { answer: 'Answer: A or B', target: 'B', choices });
  expect(verdict).toMatchObject({ value: 0, metrics: { chosen: ['A', 'B'] } });
  expect(verdict.explanation).toContain('several options');
});

test('a target may be the text of an option, and one that is neither is unscored', async () => {
  expect(await judge('choice', { answer: 'B', target: 'Green', choices })).toBe(1);
  expect(await judge('choice', { answer: 'B', target: 4, choices: ['3', '4'] })).toBe(1);
  expect(await judge('choice', { answer: 'B', target: 'purple', choices })).toBe('bad_target');
  expect(await judge('choice', { answer: 'B', target: 'E', choices })).toBe('bad_target');
});

test('without listed choices any letter of a marked answer counts', async () => {
  expect(await judge('choice', { answer: 'The answer is E.', target: 'E' })).toBe(1);
});

test('a long hostile answer is read in linear time', async () => {
  const startedAt = performance.now();
  await judge('choice', { answer: 'answer: '.repeat(20_000) + '\n'.repeat(50_000), target: 'A', choices });
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});

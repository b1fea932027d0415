import { readFileSync } from 'node:fs';
import type { CaseValue } from '../../src/statistics/case-values.ts';

/** Figures from SciPy, statsmodels and NumPy (`fixtures/make.py`). */
export const reference = JSON.parse(
  readFileSync(new URL('./fixtures/reference.json', import.meta.url), 'utf8'),
) as {
  clustered: {
    cases: CaseValue[];
    mean: number;
    standardError: number;
    clusters: number;
    low: number;
    high: number;
  }[];
  wilson: { passes: number; count: number; level: number; low: number; high: number }[];
  passAtK: { attempts: number; passes: number; k: number; passAtK: number; passHatK: number }[];
  mcnemar: { wins: number; losses: number; p: number }[];
  percentiles: { values: number[]; points: [number, number][] }[];
  normal: [number, number][];
  normalP: [number, number][];
  bootstrap: {
    values: number[];
    resamples: number;
    level: number;
    drawn: number[];
    low: number;
    high: number;
  }[];
  signFlips: { differences: number[]; weights: number[]; groups: number[]; p: number }[];
  holm: { p: number[]; adjusted: number[] }[];
  sampleSize: { difference: number; deviation: number; alpha: number; needed: number }[];
  hiddenRegression: {
    both: number;
    first: number;
    second: number;
    cases: number;
    paired: number;
    unpaired: number;
  };
};

/** One case per value, all independent, weight 1. */
export const toCases = (values: readonly number[], prefix = 'c'): CaseValue[] =>
  values.map((value, index) => ({
    caseId: `${prefix}${index}`,
    cluster: null,
    weight: 1,
    value,
    attempts: 1,
  }));

// Fails unless every file is one YAML document without a mistake, two equal keys among them.
//
// usage: parse.mjs FILE.yaml...

import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';

const problems = process.argv.slice(2).flatMap((file) => {
  const { errors, contents } = parseDocument(readFileSync(file, 'utf8'));
  return [...errors, ...(contents === null ? ['nothing in it'] : [])].map((error) => `${file}: ${error.message ?? error}`);
});
problems.forEach((problem) => console.log(problem));
process.exit(problems.length === 0 && process.argv.length > 2 ? 0 : 1);

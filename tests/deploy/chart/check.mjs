// Checks one rendering of the chart, and that each check of it can fail.
//
// usage: check.mjs RENDERED.yaml [--self_test [--all]] [ELSEWHERE...]
//   --self_test  plants mistakes in the rendering, one at a time, and fails unless the check that each is for complains
//   --all        fails, too, if a mistake cannot be planted in this rendering
//   ELSEWHERE    objects that may be referred to and are not in the rendering, as "KIND NAME"

import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { invalid, unknownKeys } from './models.mjs';
import { MUTANTS } from './mutants.mjs';
import { configuration, ports, references, security, selectors } from './structure.mjs';

function checks(elsewhere) {
  const each = (check) => (objects) => objects.flatMap((object) => check(object).map((what) => `${object.kind} ${object.metadata?.name}: ${what}`));
  return {
    model: each(invalid),
    unknown: each(unknownKeys),
    selectors: (objects) => [...selectors(objects)],
    ports: (objects) => [...ports(objects)],
    references: (objects) => [...references(objects, elsewhere)],
    security: (objects) => [...security(objects)],
    configuration: (objects) => [...configuration(objects, parse)],
  };
}

// The mistakes that nobody complains about.
function survivors(objects, all, plantAll) {
  const found = [];
  let planted = 0;
  for (const { check, what, plant } of MUTANTS) {
    const mutant = structuredClone(objects);
    if (plant(mutant) === false) continue;  // not in this rendering
    planted += 1;
    if (JSON.stringify(mutant) === JSON.stringify(objects)) found.push(`${check}: "${what}" changes nothing`);
    else if (all[check](mutant).length === 0) found.push(`${check} accepts: ${what}`);
  }
  console.log(`${planted} of ${MUTANTS.length} mistakes planted, ${found.length} accepted`);
  if (planted === 0 || (plantAll && planted < MUTANTS.length)) found.push(`${MUTANTS.length - planted} mistakes could not be planted`);
  return found;
}

const [file, ...rest] = process.argv.slice(2);
const selfTest = rest.includes('--self_test');
const elsewhere = rest.filter((word) => !word.startsWith('--'));
const documents = parseAllDocuments(readFileSync(file, 'utf8'));
const objects = documents.map((document) => document.toJS()).filter((object) => object !== null);
const problems = documents.flatMap((document) => document.errors.map(String));
if (objects.length === 0) problems.push(`${file} has no object`);
const all = checks(elsewhere);
if (selfTest) problems.push(...survivors(objects, all, rest.includes('--all')));
else for (const check of Object.values(all)) problems.push(...check(objects));
problems.forEach((problem) => console.log(`${file}: ${problem}`));
if (!selfTest) console.log(`${file}: ${objects.length} objects, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

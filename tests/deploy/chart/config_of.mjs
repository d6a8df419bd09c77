// Prints the configuration file of the service that is in a rendering of the chart.
//
// usage: config_of.mjs RENDERED.yaml

import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

const objects = parseAllDocuments(readFileSync(process.argv[2], 'utf8')).map((document) => document.toJS());
const files = objects.map((object) => object?.data?.['proofmill.yaml']).filter((text) => text !== undefined);
if (files.length !== 1) {
  console.error(`${process.argv[2]}: 1 configuration file expected, got ${files.length}`);
  process.exit(1);
}
process.stdout.write(files[0]);

import { Failure, misuse, readFlags, runCommand, say } from './lib/command/index.mjs';
import { IMAGES, billOfMaterials, licenceFaults, licenceList } from './lib/setup/index.mjs';

const HELP = `Writes which npm packages an image holds, as CycloneDX, those among them that its consoles are built from. The same is in each
image, as /app/sbom.cdx.json and /app/licences.txt. Node.js and the packages of Debian are the base image's, and not in it.

  --image NAME   services (all processes) or setup (migrations, the bucket); by default services
  --licences     name, version and licence of each package, a line each
  --check        write nothing: look whether each licence is known to allow that the package is shipped`;

async function main() {
  const flags = readFlags(HELP, {
    image: { type: 'string' },
    licences: { type: 'boolean' },
    check: { type: 'boolean' },
  });
  if (flags.check) return await check();
  const image = IMAGES.find((name) => name === (flags.image ?? IMAGES[0]));
  if (image === undefined) throw misuse(`--image must be ${IMAGES.join(' or ')}`);
  const bill = await billOfMaterials(image);
  say(flags.licences ? licenceList(bill).trimEnd() : JSON.stringify(bill, null, 2));
}

async function check() {
  const bills = await Promise.all(IMAGES.map(billOfMaterials));
  const faults = [...new Set(bills.flatMap(licenceFaults))];
  if (faults.length > 0) throw new Failure(faults.join('\n'));
  say(
    `The licences of ${bills.map(({ components }) => components.length).join(' and ')} packages allow shipping them.`,
  );
}

await runCommand(main);

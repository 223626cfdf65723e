// Prepares a machine for `npm test`: on Debian as root it installs what the tests talk to; elsewhere it
// only says what is missing, and the tests that need it skip themselves. Then it builds the torch addon.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Debian packages, each with files of which one shows that nothing need be installed. */
const PACKAGES = {
  'python3-numpy': ['/usr/lib/python3/dist-packages/numpy/__init__.py'],
  'python3-onnx': ['/usr/lib/python3/dist-packages/onnx/__init__.py'],
  'chromium-headless-shell': ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'],
};

const missing = Object.keys(PACKAGES).filter((name) => !PACKAGES[name].some(existsSync));
const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
if (missing.length > 0 && canInstall) {
  const apt = (...args) =>
    execFileSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  console.log(`Installing ${missing.join(', ')}`);
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...missing);
} else if (missing.length > 0) {
  console.log(`Tests that need ${missing.join(', ')} will be skipped: not installed.`);
}

if (existsSync(new URL('./setup-torch.mjs', import.meta.url))) {
  const { status } = spawnSync(process.execPath, ['scripts/setup-torch.mjs', '--if-needed'], {
    stdio: 'inherit',
  });
  if (status !== 0 && canInstall) process.exit(status ?? 1);
}

import { useNavigate } from '@tanstack/react-router';
import type { IconName } from '../ui/controls/icon';
import { usePlaces } from './places';
import { chooseTheme } from './theme';
import { useSignOut } from './use-sign-out';

export interface Command {
  label: string;
  icon: IconName;
  run: () => void;
}

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The commands whose names hold the text; of the id of a job, the one that opens it. */
export function useCommands(text: string): Command[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const commands: Command[] = [
    ...usePlaces().map(({ to, label, icon }) => ({ label, icon, run: () => void navigate({ to }) })),
    { label: 'Light theme', icon: 'sun', run: () => chooseTheme('light') },
    { label: 'Dark theme', icon: 'moon', run: () => chooseTheme('dark') },
    { label: 'Theme of the device', icon: 'screen', run: () => chooseTheme('system') },
    { label: 'Sign out', icon: 'out', run: () => signOut('here') },
    { label: 'Sign out everywhere', icon: 'out', run: () => signOut('everywhere') },
  ];
  const wanted = text.trim().toLowerCase();
  if (JOB_ID.test(wanted)) {
    const open = (): void => void navigate({ to: '/jobs/$jobId', params: { jobId: wanted } });
    return [{ label: `Open job ${wanted}`, icon: 'search', run: open }];
  }
  return commands.filter(({ label }) => label.toLowerCase().includes(wanted));
}

import { useNavigate } from '@tanstack/react-router';
import type { IconName } from '../ui/icon';
import { usePlaces } from './places';
import { chooseTheme } from './theme';
import { useSignOut } from './use-sign-out';

export interface Command {
  label: string;
  icon: IconName;
  run: () => void;
}

/** The commands whose names hold the text. */
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
  return commands.filter(({ label }) => label.toLowerCase().includes(wanted));
}

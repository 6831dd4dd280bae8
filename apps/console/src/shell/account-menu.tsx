import type { ReactNode } from 'react';
import { Menu } from '@base-ui/react/menu';
import { Icon, type IconName } from '../ui/controls/icon';
import { useSession } from './session-context';
import { THEMES, chooseTheme, useTheme, type Theme } from './theme';
import { useSignOut } from './use-sign-out';

const THEME_ICONS: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' };

/** Who is signed in, the theme, and the way out. */
export function AccountMenu(): ReactNode {
  const { account, key, member } = useSession();
  const signOut = useSignOut();
  const theme = useTheme();
  return (
    <Menu.Root>
      <Menu.Trigger className="account">
        <Icon name="person" />
        <span className="account-text">
          <span className="clip">{key.id === null ? 'Self-hosted service' : account.name}</span>
          {key.id !== null && <span className="clip small faint">{member?.email ?? key.name}</span>}
        </span>
        <Icon name="more" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner side="top" align="start" sideOffset={6} className="menu-place">
          <Menu.Popup className="menu">
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => chooseTheme(value)}>
              {THEMES.map((name) => (
                <Menu.RadioItem key={name} value={name} className="menu-item" closeOnClick>
                  <Icon name={THEME_ICONS[name]} />
                  {name === 'system' ? 'Theme of the device' : `${name === 'dark' ? 'Dark' : 'Light'} theme`}
                  <Menu.RadioItemIndicator className="menu-check">
                    <Icon name="check" size={13} />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="menu-line" />
            <Menu.Item className="menu-item" onClick={() => signOut('here')}>
              <Icon name="out" />
              Sign out
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={() => signOut('everywhere')}>
              <Icon name="out" />
              Sign out everywhere
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

import { createRootRoute, createRouter } from '@tanstack/react-router';

const root = createRootRoute({
  component: () => (
    <main>
      <h1>Millrace console</h1>
    </main>
  ),
});

/** The pages of the console, all below /console. */
export const router = createRouter({ routeTree: root, basepath: '/console' });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

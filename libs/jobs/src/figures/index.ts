export { VersionFigures, type VersionFigure } from './version-figures.service';
export { VersionFiguresStore } from './version-figures.store';

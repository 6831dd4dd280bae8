import { Controller, Get, Header } from '@nestjs/common';
import { describeAdminApi } from './admin-document';
import { describePlatformApi } from './platform-document';

const CACHE = 'public, max-age=300';

/** The platform API about itself, for everybody. */
@Controller('platform/v1')
export class PlatformDocumentController {
  private readonly document = { ...describePlatformApi(), servers: [{ url: '/', description: 'This service.' }] };

  @Get('openapi.json')
  @Header('Cache-Control', CACHE)
  openapi(): object {
    return this.document;
  }
}

/** The admin API about itself, for whoever reaches the ops listener. */
@Controller('admin/v1')
export class AdminDocumentController {
  private readonly document = { ...describeAdminApi(), servers: [{ url: '/', description: 'This process.' }] };

  @Get('openapi.json')
  @Header('Cache-Control', CACHE)
  openapi(): object {
    return this.document;
  }
}

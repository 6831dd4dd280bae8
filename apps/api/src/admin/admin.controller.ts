import { Controller, HttpCode, Inject, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountsService, type Account } from '@millrace/accounts';
import { CreditsService } from '@millrace/billing';
import { AdminGuard } from './admin-guard';
import { AddCreditsSchema, CreateAccountSchema, CreateApiKeySchema, UpdateAccountSchema } from './admin.schemas';
import { readJson } from '../http/body';

/** What operators do to accounts. On the ops listener only. */
@Controller('admin/v1/accounts')
export class AdminController {
  constructor(
    @Inject(AdminGuard) private readonly guard: AdminGuard,
    @Inject(AccountsService) private readonly accounts: AccountsService,
    @Inject(CreditsService) private readonly credits: CreditsService,
  ) {}

  @Post()
  @HttpCode(201)
  async createAccount(@Req() request: Request): Promise<object> {
    const operator = this.guard.admit(request);
    const body = await readJson(request, CreateAccountSchema);
    const account = await this.accounts.createAccount(operator, {
      name: body.name,
      plan: body.plan,
      runningLimit: body.running_limit,
      queueLimit: body.queue_limit,
    });
    return presentAccount(account);
  }

  @Patch(':id')
  async updateAccount(@Req() request: Request, @Param('id') id: string): Promise<object> {
    const operator = this.guard.admit(request);
    const body = await readJson(request, UpdateAccountSchema);
    const { upload_bytes_per_day: uploadBytes } = body;
    const account = await this.accounts.updateAccount(operator, id, {
      name: body.name,
      plan: body.plan,
      status: body.status,
      weight: body.weight,
      runningLimit: body.running_limit,
      queueLimit: body.queue_limit,
      requestsPerMinute: body.requests_per_minute,
      streamLimit: body.stream_limit,
      uploadBytesPerDay: uploadBytes === undefined || uploadBytes === null ? uploadBytes : BigInt(uploadBytes),
    });
    return presentAccount(account);
  }

  @Post(':id/api-keys')
  @HttpCode(201)
  async issueKey(@Req() request: Request, @Param('id') id: string): Promise<object> {
    const operator = this.guard.admit(request);
    const body = await readJson(request, CreateApiKeySchema);
    const expiresAt = body.expires_at ? new Date(body.expires_at) : null;
    return this.accounts.issueKey(operator, id, { name: body.name, scopes: body.scopes, expiresAt });
  }

  @Post(':id/credits')
  @HttpCode(201)
  async addCredits(@Req() request: Request, @Param('id') id: string): Promise<object> {
    const operator = this.guard.admit(request);
    const body = await readJson(request, AddCreditsSchema);
    await this.accounts.getAccount(id);
    const balance = await this.credits.grant(operator, id, BigInt(body.amount_micros), body.reason);
    return { available_micros: Number(balance.availableMicros), held_micros: Number(balance.heldMicros) };
  }
}

function presentAccount(account: Account): object {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    plan: account.plan,
    weight: account.weight,
    running_limit: account.runningLimit,
    queue_limit: account.queueLimit,
    requests_per_minute: account.requestsPerMinute,
    stream_limit: account.streamLimit,
    upload_bytes_per_day: account.uploadBytesPerDay === null ? null : Number(account.uploadBytesPerDay),
    created_at: account.createdAt.toISOString(),
  };
}

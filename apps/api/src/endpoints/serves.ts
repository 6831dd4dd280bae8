import {
  Header,
  HttpCode,
  RequestMapping,
  RequestMethod,
  Res,
  UseGuards,
  createParamDecorator,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import type { Printed } from '../http';
import type { Access } from './access';
import { AnonymousGuard } from './anonymous.guard';
import type { AnswerOf, Endpoint, InputOf, Method } from './endpoint';
import { InputPipe, type Exchange } from './input.pipe';
import { OperatorGuard } from './operator.guard';
import { NoteEndpoint } from './served-endpoints';
import { VisitorGuard } from './visitor.guard';

const ROUTE_METHODS: Record<Method, RequestMethod> = {
  get: RequestMethod.GET,
  head: RequestMethod.HEAD,
  post: RequestMethod.POST,
  put: RequestMethod.PUT,
  patch: RequestMethod.PATCH,
  delete: RequestMethod.DELETE,
};

const GUARDS: Record<Access['by'], Type<CanActivate>> = {
  surface: VisitorGuard,
  api_key: VisitorGuard,
  session: VisitorGuard,
  operator: OperatorGuard,
  signed_link: AnonymousGuard,
  signed_body: AnonymousGuard,
  nothing: AnonymousGuard,
};

const HttpExchange = createParamDecorator((_: unknown, context: ExecutionContext): Exchange => {
  const http = context.switchToHttp();
  return { request: http.getRequest(), response: http.getResponse() };
});

/**
 * Make a method serve an endpoint. It runs only for callers that the endpoint's guard lets in, with input that fits the
 * endpoint's schemas (`InputPipe`). What it returns is the body of the answer, or its text.
 */
export function Serves<E extends Endpoint>(endpoint: E) {
  return <Answered extends AnswerOf<E> | Printed<AnswerOf<E>>>(
    controller: object,
    name: string,
    descriptor: TypedPropertyDescriptor<(input: InputOf<E>) => Promise<Answered>>,
  ): void => {
    const { access, answers, method, raw } = endpoint;
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const [status = 200] = Object.keys(answers).map(Number);
    NoteEndpoint(endpoint)(controller, name, descriptor);
    RequestMapping({ path, method: ROUTE_METHODS[method] })(controller, name, descriptor);
    HttpCode(status)(controller, name, descriptor);
    if (endpoint.uncached) Header('Cache-Control', 'no-store')(controller, name, descriptor);
    UseGuards(GUARDS[access.by])(controller, name, descriptor);
    HttpExchange(new InputPipe(endpoint))(controller, name, 0);
    // Nest leaves the answer to a handler that takes the response as a parameter.
    if (raw) Res()(controller, name, 1);
  };
}

import { StreamSchedule } from './stream-schedule';

const TIMING = {
  rereadMs: 10_000,
  rereadAtLatestMs: 60_000,
  positionMs: 3_000,
  progressMs: 300,
  previewMs: 500,
  subscribeMs: 1_000,
};
const NOTHING = { hasProgress: false, hasPreview: false };

describe('the schedule of a stream', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** A stream of a running job: seconds of its readings, with an event every so many seconds. */
  function readings(seconds: number, eventEvery: number): number[] {
    const schedule = new StreamSchedule(TIMING);
    schedule.beginReading();
    schedule.endReading({ hadNews: true, waiting: false });
    const read: number[] = [];
    for (let second = 1; second <= seconds; second += 1) {
      jest.advanceTimersByTime(1_000);
      if (second % eventEvery === 0) schedule.noteEvent();
      if (!schedule.isReadingDue()) continue;
      schedule.beginReading();
      schedule.endReading({ hadNews: false, waiting: false });
      read.push(second);
    }
    return read;
  }

  it('reads every ten seconds while no event arrives', () => {
    expect(readings(35, Infinity)).toEqual([10, 20, 30]);
  });

  it('reads once in a minute while events arrive', () => {
    expect(readings(130, 1)).toEqual([60, 120]);
  });

  it('reads ten seconds after the last event', () => {
    expect(readings(34, 17)).toEqual([10, 27]);
  });

  it('sleeps until a reading is due', () => {
    const schedule = new StreamSchedule(TIMING);
    schedule.endReading({ hadNews: true, waiting: false });
    jest.advanceTimersByTime(4_000);
    expect(schedule.idleMs(NOTHING)).toBe(6_000);
    schedule.noteEvent();
    expect([schedule.isReadingDue(), schedule.idleMs(NOTHING)]).toEqual([false, 10_000]);
  });
});

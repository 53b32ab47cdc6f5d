import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Java's CopyOnWriteArrayList under the workloads of multicast-peers, with the same observers.
 *
 * Reads a request from each line of standard input, and answers with a line: "ok" and numbers.
 */
public final class CopyOnWriteList {
  interface Observer {
    void notify(long event);

    long answer(long event);

    long takeReceived();
  }

  static class SumObserver implements Observer {
    long received;

    public void notify(long event) {
      received += event;
    }

    public long answer(long event) {
      return event;
    }

    public long takeReceived() {
      long result = received;
      received = 0;
      return result;
    }
  }

  static final class LastObserver extends SumObserver {
    long last;
    final long scale = 1;

    @Override
    public void notify(long event) {
      last = event;
      received += event;
    }

    @Override
    public long answer(long event) {
      return event * scale;
    }
  }

  static final class PeakObserver extends SumObserver {
    long peak;
    final long mask = Long.MAX_VALUE;

    @Override
    public void notify(long event) {
      peak = Math.max(peak, event);
      received += event;
    }

    @Override
    public long answer(long event) {
      return event & mask;
    }
  }

  static Observer makeObserver(int kind) {
    switch (kind % 3) {
      case 0:
        return new SumObserver();
      case 1:
        return new LastObserver();
      default:
        return new PeakObserver();
    }
  }

  /** A list with observers. */
  static final class Hub {
    final List<Observer> observers = new ArrayList<>();
    final CopyOnWriteArrayList<Observer> list = new CopyOnWriteArrayList<>();

    Hub(int size) {
      for (int index = 0; index < size; index++) observers.add(makeObserver(index));
      list.addAll(observers);
    }

    long takeReceived() {
      long sum = 0;
      for (Observer observer : observers) sum += observer.takeReceived();
      return sum;
    }

    void notifyAll(long event) {
      list.forEach(observer -> observer.notify(event));
    }

    void invoke(int iterations) {
      for (int iteration = 0; iteration < iterations; iteration++) notifyAll(1);
    }

    long answers(int iterations) {
      long sum = 0;
      for (int iteration = 0; iteration < iterations; iteration++) {
        for (Observer observer : list) sum += observer.answer(1);
      }
      return sum;
    }
  }

  private static final Map<Integer, Hub> hubs = new HashMap<>();

  private static Hub hub(int size) {
    return hubs.computeIfAbsent(size, Hub::new);
  }

  /** Nanoseconds, deliveries. */
  static long[] invocation(int size, int iterations) {
    Hub hub = hub(size);
    long start = System.nanoTime();
    hub.invoke(iterations);
    long elapsed = System.nanoTime() - start;
    return new long[] {elapsed, hub.takeReceived()};
  }

  /** Nanoseconds, answers. */
  static long[] contention(int size, int threads, int iterations) throws Exception {
    Hub hub = hub(size);
    AtomicLong sum = new AtomicLong();
    AtomicLong first = new AtomicLong(Long.MAX_VALUE);
    AtomicLong last = new AtomicLong(Long.MIN_VALUE);
    CyclicBarrier barrier = new CyclicBarrier(threads);
    runThreads(threads, thread -> {
      barrier.await();
      long start = System.nanoTime();
      sum.addAndGet(hub.answers(iterations / threads + (thread < iterations % threads ? 1 : 0)));
      long end = System.nanoTime();
      first.accumulateAndGet(start, Math::min);
      last.accumulateAndGet(end, Math::max);
    });
    return new long[] {last.get() - first.get(), sum.get()};
  }

  /**
   * Nanoseconds of the undisturbed emissions and of the others, pairs and their nanoseconds, p99 and
   * maximum of an emission, deliveries.
   */
  static long[] churn(int size, int emissions) throws Exception {
    Hub hub = hub(size);
    long undisturbed = emit(hub, new long[emissions]);
    long[] latencies = new long[emissions];
    long[] result = new long[7];
    CyclicBarrier barrier = new CyclicBarrier(2);
    CountDownLatch isDone = new CountDownLatch(1);
    runThreads(2, thread -> {
      barrier.await();
      if (thread == 0) {
        result[1] = emit(hub, latencies);
        isDone.countDown();
      } else {
        Observer observer = makeObserver(0);
        long pairs = 0;
        long start = System.nanoTime();
        do {
          hub.list.add(observer);
          hub.list.remove(observer);
          pairs++;
        } while (isDone.getCount() > 0);
        result[2] = pairs;
        result[3] = System.nanoTime() - start;
      }
    });
    Arrays.sort(latencies);
    result[0] = undisturbed;
    result[4] = latencies[Math.max((int) Math.ceil(0.99 * emissions) - 1, 0)];
    result[5] = latencies[emissions - 1];
    result[6] = hub.takeReceived();
    return result;
  }

  private static long emit(Hub hub, long[] latencies) {
    long start = System.nanoTime();
    long last = start;
    for (int emission = 0; emission < latencies.length; emission++) {
      hub.notifyAll(1);
      long now = System.nanoTime();
      latencies[emission] = now - last;
      last = now;
    }
    return last - start;
  }

  /** Nanoseconds of adding, and of removing. */
  static long[] registration(int size, int rounds) {
    List<Observer> observers = new Hub(size).observers;
    long adding = 0;
    long removing = 0;
    // The first round is not counted: what ran before has left nothing of this in the caches.
    for (int round = 0; round <= rounds; round++) {
      CopyOnWriteArrayList<Observer> list = new CopyOnWriteArrayList<>();
      long start = System.nanoTime();
      for (Observer observer : observers) list.add(observer);
      long middle = System.nanoTime();
      for (Observer observer : observers) list.remove(observer);
      long end = System.nanoTime();
      if (round == 0) continue;
      adding += middle - start;
      removing += end - middle;
    }
    return new long[] {adding, removing};
  }

  interface Work {
    void run(int thread) throws Exception;
  }

  private static void runThreads(int count, Work work) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int index = 0; index < count; index++) {
      int number = index;
      Thread thread = new Thread(() -> {
        try {
          work.run(number);
        } catch (Exception error) {
          throw new IllegalStateException(error);
        }
      });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) thread.join();
  }

  private static long[] measure(String[] words) throws Exception {
    int[] numbers = Arrays.stream(words).skip(1).mapToInt(Integer::parseInt).toArray();
    switch (words[0]) {
      case "invocation":
        return invocation(numbers[0], numbers[1]);
      case "contention":
        return contention(numbers[0], numbers[1], numbers[2]);
      case "churn":
        return churn(numbers[0], numbers[1]);
      case "registration":
        return registration(numbers[0], numbers[1]);
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private static boolean isWarm = false;

  /** Long enough for the compiler to have translated what is measured, and its callees. */
  private static void warmUp() throws Exception {
    isWarm = true;
    long end = System.nanoTime() + 1_000_000_000L;
    while (System.nanoTime() < end) {
      invocation(1, 2000);
      invocation(100, 200);
      contention(10, 2, 2000);
      churn(10, 2000);
      registration(10, 20);
    }
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = requests.readLine()) != null; ) {
      StringBuilder answer = new StringBuilder("ok");
      if (!line.equals("ready")) {
        if (!isWarm) warmUp();
        for (long number : measure(line.split(" "))) answer.append(' ').append(number);
      }
      System.out.println(answer);
    }
  }
}

// Lucene's side of `scripts/bench-index`: indexes the passages of FOLDER, searches the requests, and
// prints time and memory of each step as a line of JSON. It is run as a source file, with Anserini's jar as
// the class path.
//
// Usage: IndexLucene.java FOLDER THREADS MEMORY REQUESTS

import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;

public class IndexLucene {
  /** Passages that a thread is given at a time. */
  static final int BLOCK = 1000;

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]), place = folder.resolve("lucene");
    int threads = Integer.parseInt(args[1]), count = Integer.parseInt(args[3]);
    long begin = System.nanoTime(), processor = processor();
    build(folder.resolve("passages.tsv"), place, threads, Long.parseLong(args[2]) >> 20);
    long bytes = 0;
    for (File file : place.toFile().listFiles()) bytes += file.length();
    System.out.printf(Locale.ROOT,
        "{\"step\": \"build\", \"seconds\": %f, \"processor_seconds\": %f, \"peak_mib\": %d, \"bytes\": %d}%n",
        (System.nanoTime() - begin) / 1e9, (processor() - processor) / 1e9, peak(), bytes);
    try (var reader = DirectoryReader.open(FSDirectory.open(place))) {
      var searcher = new IndexSearcher(reader);
      searcher.setSimilarity(new BM25Similarity());
      searcher.setQueryCache(null);
      for (String kind : List.of("content", "any")) {
        var requests = Files.readAllLines(folder.resolve(kind + ".txt"));
        requests = requests.subList(0, Math.min(count, requests.size()));
        for (int depth : new int[] {30, 1000}) {
          // Once before it is timed, for the compiler.
          search(searcher, requests, depth);
          long[] spent = search(searcher, requests, depth);
          System.out.printf(Locale.ROOT,
              "{\"step\": \"search\", \"words\": \"%s\", \"depth\": %d, \"queries_per_second\": %f, \"with_texts\": %f}%n",
              kind, depth, requests.size() * 1e9 / spent[0], requests.size() * 1e9 / (spent[0] + spent[1]));
        }
      }
    }
  }

  static void build(Path passages, Path place, int threads, long megabytes) throws Exception {
    var config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setRAMBufferSizeMB(megabytes);
    var words = new FieldType(TextField.TYPE_STORED);
    words.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
    var pool = new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(2 * threads), new ThreadPoolExecutor.CallerRunsPolicy());
    var failed = new ConcurrentLinkedQueue<Exception>();
    try (var writer = new IndexWriter(FSDirectory.open(place), config);
        var lines = Files.newBufferedReader(passages)) {
      for (List<String> block = block(lines); !block.isEmpty(); block = block(lines)) {
        var taken = block;
        pool.execute(() -> {
          try {
            for (String line : taken) {
              int tab = line.indexOf('\t');
              var document = new Document();
              document.add(new StringField("id", line.substring(0, tab), Field.Store.YES));
              document.add(new Field("text", line.substring(tab + 1), words));
              writer.addDocument(document);
            }
          } catch (IOException error) {
            failed.add(error);
          }
        });
      }
      pool.shutdown();
      pool.awaitTermination(1, TimeUnit.DAYS);
      if (!failed.isEmpty()) throw failed.remove();
      writer.forceMerge(1);
    }
  }

  static List<String> block(BufferedReader lines) throws IOException {
    var block = new ArrayList<String>(BLOCK);
    for (String line; block.size() < BLOCK && (line = lines.readLine()) != null; ) block.add(line);
    return block;
  }

  /** Nanoseconds of this thread for ranking, and for reading the ids and texts of the best 30. */
  static long[] search(IndexSearcher searcher, List<String> requests, int depth) throws IOException {
    var threads = ManagementFactory.getThreadMXBean();
    var found = new ArrayList<TopDocs>();
    long start = threads.getCurrentThreadCpuTime();
    for (String request : requests) {
      var query = new BooleanQuery.Builder();
      for (String word : request.split(" "))
        query.add(new TermQuery(new Term("text", word)), BooleanClause.Occur.SHOULD);
      found.add(searcher.search(query.build(), depth));
    }
    long ranked = threads.getCurrentThreadCpuTime();
    for (TopDocs hits : found) {
      for (int rank = 0; rank < Math.min(30, hits.scoreDocs.length); rank++) {
        var document = searcher.doc(hits.scoreDocs[rank].doc);
        if (document.get("id").isEmpty() || document.get("text").isEmpty())
          throw new IOException("a hit without id or text");
      }
    }
    return new long[] {ranked - start, threads.getCurrentThreadCpuTime() - ranked};
  }

  static long processor() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  static long peak() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status")))
      if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
    return 0;
  }
}

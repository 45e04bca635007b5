import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import de.bwaldvogel.mongo.backend.memory.index.MemoryUniqueIndex;
import de.bwaldvogel.mongo.bson.Document;
import java.util.List;

/**
 * A MongoDB-wire server in memory, for tests: `Launcher PORT [ADDRESS]`. It prints its port. It ends when its standard input closes, which happens at the
 * latest when the process that started it dies.
 */
public class Launcher {
    /** The driver refuses servers with a wire version below 9. */
    private static final MongoVersion VERSION = new MongoVersion() {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 13;
        }
    };

    private static final class Backend extends MemoryBackend {
        @Override
        public MemoryDatabase openOrCreateDatabase(String name) {
            return new MemoryDatabase(name, getCursorRegistry()) {
                @Override
                protected Index<Integer> openOrCreateUniqueIndex(
                        String collection, String name, List<IndexKey> keys, boolean sparse) {
                    return new UniqueIndex(name, keys, sparse);
                }
            };
        }
    }

    /**
     * Finds documents also for a query that has more conditions than the keys of the index. Without it, such a query reads the
     * whole collection. The collection checks all conditions on what an index finds.
     */
    private static final class UniqueIndex extends MemoryUniqueIndex {
        UniqueIndex(String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys, sparse);
        }

        @Override
        public synchronized boolean canHandle(Document query) {
            return query.keySet().containsAll(keySet()) && super.canHandle(ownPart(query));
        }

        @Override
        public synchronized Iterable<Integer> getPositions(Document query) {
            return super.getPositions(ownPart(query));
        }

        private Document ownPart(Document query) {
            Document part = new Document();
            for (String key : keySet()) {
                part.put(key, query.get(key));
            }
            return part;
        }
    }

    public static void main(String[] args) throws Exception {
        MongoServer server = new MongoServer(new Backend().version(VERSION));
        server.bind(args.length > 1 ? args[1] : "127.0.0.1", Integer.parseInt(args[0]));
        System.out.println(server.getLocalAddress().getPort());
        while (System.in.read() >= 0) {
            // The parent writes nothing: this loop only waits for the end of the input.
        }
        Runtime.getRuntime().halt(0);
    }
}

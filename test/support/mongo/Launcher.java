import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
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

    public static void main(String[] args) throws Exception {
        MongoServer server = new MongoServer(new MemoryBackend().version(VERSION));
        server.bind(args.length > 1 ? args[1] : "127.0.0.1", Integer.parseInt(args[0]));
        System.out.println(server.getLocalAddress().getPort());
        while (System.in.read() >= 0) {
            // The parent writes nothing: this loop only waits for the end of the input.
        }
        Runtime.getRuntime().halt(0);
    }
}

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node with its plugins on the class path, until its input ends:
 * java -cp 'JARS/*' Node.java HOME PORT.
 */
final class Node extends org.opensearch.node.Node {
    private static final List<Class<? extends Plugin>> PLUGINS =
        List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class, KNNPlugin.class);

    private Node(Settings settings) {
        super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"), PLUGINS, false);
    }

    public static void main(String[] args) throws Exception {
        Settings settings = Settings.builder()
            .put("path.home", Path.of(args[0]).toAbsolutePath())
            .put("cluster.name", "test")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[1])
            .put("transport.port", "0")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("cluster.max_shards_per_node", 10000)
            .put("knn.faiss.avx2.disabled", true)
            .put("knn.faiss.avx512.disabled", true)
            .put("knn.faiss.avx512_spr.disabled", true)
            .build();
        new Node(settings).start();
        while (System.in.read() >= 0) {
            // Whoever started us still lives.
        }
        Runtime.getRuntime().halt(0); // its data is thrown away
    }
}

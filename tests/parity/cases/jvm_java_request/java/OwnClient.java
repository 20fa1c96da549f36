package own;

import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.protocol.java.sampler.AbstractJavaSamplerClient;
import org.apache.jmeter.protocol.java.sampler.JavaSamplerContext;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContextService;

/** A client with state: one instance per user. */
public class OwnClient extends AbstractJavaSamplerClient {
    private int runs;
    private String set = "not set up";

    @Override
    public Arguments getDefaultParameters() {
        Arguments arguments = new Arguments();
        arguments.addArgument("a", "default a");
        arguments.addArgument("b", "default b");
        return arguments;
    }

    @Override
    public void setupTest(JavaSamplerContext context) {
        set = "set up with " + context.getParameter("a");
    }

    @Override
    public SampleResult runTest(JavaSamplerContext context) {
        SampleResult result = new SampleResult();
        result.sampleStart();
        result.setSampleLabel("own " + context.getParameter("b"));
        runs++;
        if (context.getParameter("fail", "no").equals("yes")) {
            throw new IllegalStateException("asked to fail");
        }
        String text = set + "|" + runs + "|" + context.getParameter("a") + "|" + context.getParameter("c", "no c") + "|"
                + context.getIntParameter("number", 5) + "|" + JMeterContextService.getContext().getVariables().get("v");
        JMeterContextService.getContext().getVariables().put("runs", "" + runs);
        result.setResponseData(text, "UTF-8");
        result.setDataType(SampleResult.TEXT);
        result.setResponseCode("299");
        result.setResponseMessage("own message");
        result.setSuccessful(true);
        result.sampleEnd();
        return result;
    }

    @Override
    public void teardownTest(JavaSamplerContext context) {
        System.setProperty("own.torn.down", System.getProperty("own.torn.down", "") + "x");
    }
}

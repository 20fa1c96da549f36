// Records the rate in each second of a schedule, computed by the class of jp@gc's Throughput Shaping Timer.
//
//   java -cp "$HOME_OF_JMETER/lib/*:$HOME_OF_JMETER/lib/ext/*:$HOME_OF_JMETER/bin/ApacheJMeter.jar" RecordRates.java $HOME_OF_JMETER >rates.txt
//
// with JMeter 5.6.3 and kg.apc:jmeter-plugins-tst:2.5 (tests/parity/get-jmeter makes such a home).
import java.util.*;
import kg.apc.jmeter.timers.VariableThroughputTimer;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.util.JMeterUtils;

public class RecordRates {
  public static void main(String[] a) {
    JMeterUtils.setJMeterHome(a[0]);
    JMeterUtils.loadJMeterProperties(a[0] + "/bin/jmeter.properties");
    Random r = new Random(7);
    for (int i = 0; i < 40; i++) {
      CollectionProperty rows = new CollectionProperty("load_profile", new ArrayList<>());
      StringJoiner head = new StringJoiner(" ");
      int all = 0;
      for (int j = 0; j <= r.nextInt(3); j++) {
        String from = r.nextInt(4) == 0 ? "0" : "" + r.nextInt(200) / 10.0;
        String to = r.nextInt(3) == 0 ? from : "" + r.nextInt(200) / 10.0;
        int seconds = r.nextInt(6);
        all += seconds;
        rows.addProperty(new CollectionProperty("" + j, new ArrayList<>(List.of(from, to, "" + seconds))));
        head.add(from + "," + to + "," + seconds);
      }
      VariableThroughputTimer timer = new VariableThroughputTimer();
      timer.setData(rows);
      StringJoiner rates = new StringJoiner(" ");
      for (int second = 0; second <= all + 2; second++) {
        rates.add("" + timer.getRPSForSecond(second).getLeft());
      }
      System.out.println(head + " = " + rates);
    }
  }
}

// Records when users of Stepping, Ultimate and Open Model Thread Groups start and end, computed by the plug-ins'
// own classes.
//
//   java -cp "$HOME_OF_JMETER/lib/*:$HOME_OF_JMETER/lib/ext/*:$HOME_OF_JMETER/bin/ApacheJMeter.jar" RecordSpans.java $HOME_OF_JMETER >spans.txt
//
// with JMeter 5.6.3 and kg.apc:jmeter-plugins-casutg:2.10 (tests/parity/get-jmeter makes such a home).
import org.apache.jmeter.threads.*; import org.apache.jmeter.testelement.property.*; import org.apache.jmeter.control.*; import org.apache.jorphan.collections.*;
import kg.apc.jmeter.threads.*; import java.lang.reflect.*; import java.util.*;
public class RecordSpans {
  static JMeterThread thread(int n){ HashTree t=new HashTree(); t.add(new LoopController()); JMeterThread j=new JMeterThread(t,null,null); j.setThreadNum(n); return j; }
  static void run(AbstractSimpleThreadGroup g,int count,String head) throws Exception {
    Method m=g.getClass().getDeclaredMethod("scheduleThread",JMeterThread.class,long.class); m.setAccessible(true);
    StringBuilder b=new StringBuilder(head+":");
    for(int n=0;n<count;n++){ JMeterThread t=thread(n); m.invoke(g,t,0L); b.append(' ').append(t.getStartTime()).append('-').append(t.getEndTime()); }
    System.out.println(b);
  }
  public static void main(String[] a) throws Exception {
    org.apache.jmeter.util.JMeterUtils.setJMeterHome(a[0]); org.apache.jmeter.util.JMeterUtils.loadJMeterProperties(a[0]+"/bin/jmeter.properties");
    Random r=new Random(5);
    for(int i=0;i<40;i++){
      int[] v={r.nextInt(13),r.nextInt(4),r.nextInt(6),r.nextInt(8),r.nextInt(5),r.nextInt(12),r.nextInt(20),r.nextInt(5),r.nextInt(4)};
      SteppingThreadGroup g=new SteppingThreadGroup(); g.setNumThreads(""+v[0]); g.setThreadGroupDelay(""+v[1]); g.setInUserCount(""+v[2]); g.setInUserCountBurst(""+v[3]); g.setInUserPeriod(""+v[4]); g.setRampUp(""+v[5]); g.setFlightTime(""+v[6]); g.setOutUserCount(""+v[7]); g.setOutUserPeriod(""+v[8]);
      run(g,v[0],"steps "+Arrays.toString(v).replaceAll("[\\[\\],]",""));
    }
    for(int i=0;i<15;i++){
      UltimateThreadGroup g=new UltimateThreadGroup(); CollectionProperty rows=new CollectionProperty("ultimatethreadgroupdata",new ArrayList<>()); int total=0; String head="rows";
      int k=1+r.nextInt(3);
      for(int j=0;j<k;j++){ ArrayList<Object> row=new ArrayList<>(); int u=1+r.nextInt(5); total+=u; int[] v={u,r.nextInt(5),r.nextInt(8),r.nextInt(9),r.nextInt(8)}; for(int x:v) row.add(""+x); rows.addProperty(new CollectionProperty(""+j,row)); head+=" "+Arrays.toString(v).replaceAll("[\\[\\] ]",""); }
      g.setData(rows); g.testStarted(); run(g,total,head);
    }
    Class<?> gen=Class.forName("org.apache.jmeter.threads.openmodel.ThreadScheduleProcessGenerator");
    Class<?> util=Class.forName("org.apache.jmeter.threads.openmodel.ThreadScheduleUtils");
    for(String s:new String[]{"rate(2/s) even_arrivals(3 s)","rate(1/s) random_arrivals(10 s) rate(3/s)","rate(3/sec) random_arrivals(5 s) rate(0)","rate(120/min) random_arrivals(4 sec) pause(2 s) even_arrivals(2 s) rate(5/s) random_arrivals(0.5 min 1 s) rate(0/s)","rate(0) even_arrivals(3s) rate(4 per s) even_arrivals(1500 ms) rate(1/s) even_arrivals(2s)","pause(1 s) rate(3600/h) even_arrivals(4 s)","7","rate(2.5/s) random_arrivals(.5 m)"}){
      Method mk=null; for(Method m:util.getMethods()) if(m.getName().equals("ThreadSchedule")) mk=m;
      Object sch=mk.invoke(null,s);
      Constructor<?> c=gen.getConstructors()[0]; c.setAccessible(true);
      PrimitiveIterator.OfDouble it=(PrimitiveIterator.OfDouble)c.newInstance(new Random(42),sch);
      StringBuilder b=new StringBuilder("open "+s+":"); while(it.hasNext()) b.append(' ').append(Math.round(it.nextDouble()*1000)); System.out.println(b);
    }
  }
}

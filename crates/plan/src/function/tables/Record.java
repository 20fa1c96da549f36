import org.apache.jmeter.engine.util.*;
import org.apache.jmeter.threads.*;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.testelement.property.*;
import java.io.*; import java.util.*; import java.lang.reflect.*;
public class Oracle { static final String[][] START={{"a","1"},{"b","two"},{"n","3"},{"a_3","A3"},{"txt","x${a}y\\,"},{"bad","${__P()}"},{"e",""},{"q$","dollar"}};
  static String esc(String s){ if(s==null) return "<null>"; StringBuilder b=new StringBuilder(); for(char c: s.toCharArray()){ if(c=='\n')b.append("\\n"); else if(c=='\t') b.append("\\t"); else if(c=='\r') b.append("\\r"); else if(c=='\\') b.append("\\\\"); else b.append(c);} return b.toString(); }
  static String unesc(String s){ StringBuilder b=new StringBuilder(); for(int i=0;i<s.length();i++){char c=s.charAt(i); if(c=='\\'){char d=s.charAt(++i); b.append(d=='n'?'\n':d=='t'?'\t':d=='r'?'\r':d);} else b.append(c);} return b.toString(); }
  public static void main(String[] a) throws Exception {
    PrintStream out = System.out; System.setOut(System.err);
    String home=a[0];
    JMeterUtils.setJMeterHome(home);
    JMeterUtils.loadJMeterProperties(home+"/bin/jmeter.properties");
    JMeterUtils.initLocale();
    JMeterUtils.getJMeterProperties().setProperty("prop","  pv ");
    JMeterUtils.getJMeterProperties().setProperty("time.USER1","dd/MM");
    JMeterContext ctx=JMeterContextService.getContext();
    BufferedReader r=new BufferedReader(new InputStreamReader(System.in,"UTF-8"));
    PrintStream o=new PrintStream(out,true,"UTF-8");
    String line;
    Constructor<?> ctor=Class.forName("org.apache.jmeter.engine.util.ReplaceStringWithFunctions").getConstructor(CompoundVariable.class, Map.class);
    while((line=r.readLine())!=null){
      JMeterVariables v=new JMeterVariables(); ctx.setVariables(v);
      for(String[] kv: START) v.put(kv[0],kv[1]);
      Thread.currentThread().setName("Group 1-7");
      String res;
      try {
        Object tr=ctor.newInstance(new CompoundVariable(), new HashMap<String,String>());
        JMeterProperty p;
        try { p=(JMeterProperty)tr.getClass().getMethod("transformValue",JMeterProperty.class).invoke(tr,new StringProperty("x",unesc(line))); }
        catch(InvocationTargetException e){ o.println(line+"\tINVALID "+esc(e.getCause().getMessage())); continue; }
        p.setRunningVersion(true);
        res=p.getStringValue();
      } catch(Throwable e){ o.println(line+"\tTHROWS "+e.getClass().getName()+": "+esc(e.getMessage())); continue; }
      StringBuilder vs=new StringBuilder(); TreeMap<String,Object> t=new TreeMap<>(); for(Map.Entry<String,Object> en: v.entrySet()) t.put(en.getKey(),en.getValue());
      for(String[] kv: START) if(kv[1].equals(t.get(kv[0]))) t.remove(kv[0]); for(String k: new String[]{"START.MS","START.YMD","START.HMS","TESTSTART.MS"}) t.remove(k);
      o.println(line+"\t= "+esc(res)+(t.isEmpty()?"":"\t"+esc(t.toString())));
    }
  }
}

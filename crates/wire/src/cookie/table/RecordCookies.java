// Records the cookies that JMeter's Cookie Manager sends under each policy, after cookies of the plan and of servers were set.
//
//   java -cp "$HOME_OF_JMETER/lib/*:$HOME_OF_JMETER/lib/ext/*:$HOME_OF_JMETER/bin/ApacheJMeter.jar" RecordCookies.java $HOME_OF_JMETER 7 40 >cookies.txt
//
// with JMeter 5.6.3; the arguments are its home, the seed, and the percentage of all conversations to record. A line is one of: the
// policy with which a conversation begins; a cookie of the manager (name, value, domain, path, secure, version, path given, domain
// given); a `Set-Cookie` with its origin; or the destination of a request with the `Cookie` header sent. Fields are separated by
// tabs; `-` means no header.
import java.net.URI;
import java.net.URL;
import java.util.*;
import org.apache.jmeter.protocol.http.control.Cookie;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

public class RecordCookies {
  static Random r;

  /** Hosts of a conversation: few, so that cookies meet requests. */
  static String[] hosts;

  static String one(String... of) {
    return of[r.nextInt(of.length)];
  }

  static String url() {
    return one("http", "http", "https") + "://"
        + one(hosts) + one("", "", "", ":8080") + one("/", "/a", "/a/", "/a/b", "/a/b", "/ab", "/a/b/c?x=/q", "", "/b");
  }

  static String quoted(String text) {
    return r.nextInt(5) == 0 ? '"' + text + '"' : text;
  }

  static String attribute() {
    String path = quoted(one("/", "/a", "/a/", "/a/b", "/b", "a", "", "/A", "/a/b/c"));
    String domain = quoted(one("www.example.com", ".example.com", "example.com", ".com.", "127.0.0.1", "localhost", ".localhost", ".www.example.com",
        ".Example.com", "example.com.", ".local", ".b.example.com", "", " ", ".example.de", "localhost.local", ".localhost.local"));
    return switch (r.nextInt(16)) {
      case 0, 1, 2 -> "Path=" + path;
      case 3, 4 -> "Domain=" + domain;
      case 5, 6 -> one("Version", "version", "VERSION") + "=" + one("0", "1", "1", "\"1\"", "2", "-1", "+1", "x", "", " 1 ");
      case 7 -> "Max-Age=" + one("1000", "\"1000\"", "-5", "x", "", "99999999999");
      case 8 -> "Expires=" + one("Wed, 01 Jan 2098 00:00:00 GMT", "Wed, 01-Jan-2098 00:00:00 GMT", "Thu, 01 Jan 1990 00:00:00 GMT", "Thu, 01-Jan-90 00:00:00 GMT", "x", "");
      case 9 -> "Secure";
      case 10 -> one("HttpOnly", "Comment=x", "Port=\"80,8080\"", "Discard", "SameSite=Lax", "CommentURL=\"http://x/\"", "=x", "");
      case 11 -> "path";
      case 13, 14 -> "Version=1";
      case 12 -> one("Path", "Domain", "Version", "Max-Age");
      default -> "Path=/";
    };
  }

  static String pair() {
    return one("a", "b", "c", "d", "a b", "$e", "F", "", " g ") + one("=", "=", "=", "=", " = ", "")
        + one("1", "2", "x y", "\"q\"", "\"q r\"", "\"q\\\"r\"", "a=b", "", "1,2", "x;y", "\"x;y,z\"", "back\\slash", "  sp  ace ");
  }

  static String setCookie() {
    StringBuilder text = new StringBuilder(pair());
    for (int i = r.nextInt(5); i > 0; i--) {
      text.append(one("; ", ";", " ; ")).append(attribute());
    }
    if (r.nextInt(6) == 0) {
      text.append(one(",", ", ", ";,")).append(pair());
      for (int i = r.nextInt(3); i > 0; i--) {
        text.append("; ").append(attribute());
      }
    }
    return text.append(one("", "", "", "", ";", "; ", ",")).toString();
  }

  public static void main(String[] a) throws Exception {
    JMeterUtils.setJMeterHome(a[0]);
    JMeterUtils.loadJMeterProperties(a[0] + "/bin/jmeter.properties");
    Configurator.setRootLevel(Level.OFF);
    r = new Random(Long.parseLong(a[1]));
    for (String policy : List.of("rfc2109", "rfc2965", "default", "compatibility", "best-match", "netscape", "standard", "standard-strict", "ignoreCookies", "RFC2109", "Default")) {
      int times = policy.startsWith("standard") || policy.equals("netscape") ? 40 : List.of("rfc2109", "rfc2965", "default", "compatibility").contains(policy) ? 100 : 5;
      for (int i = 0; i < Math.max(1, times * Integer.parseInt(a[2]) / 100); i++) {
        System.out.println("policy\t" + policy);
        String[] all = {"www.example.com", "www.example.com", "example.com", "WWW.example.com", "a.www.example.com", "localhost", "127.0.0.1", "[::1]",
            "www.example.de", "host.local"};
        hosts = new String[] {one(all), one(all)};
        if (r.nextInt(2) == 0) {
          hosts[1] = hosts[0];
        }
        CookieManager manager = new CookieManager();
        manager.setCookiePolicy(policy);
        for (int j = r.nextInt(policy.equals("rfc2965") ? 7 : 4); j > 0; j--) {
          Cookie c = new Cookie(one("u", "v", "w", "U"), one("1", "x y", "q\"r", "a,b", "z", "", "t "),
              r.nextInt(2) == 0 ? hosts[0] : one("www.example.com", ".example.com", "example.com", "localhost.local", ".local", ".Example.com", "", "Example.com", "::1"),
              one("/", "/", "/a", "/a/b", "/a/", "", "/b"), r.nextInt(6) == 0, 0, r.nextInt(4) > 0, r.nextInt(4) > 0, Integer.parseInt(one("1", "1", "1", "0", "2", "-1")));
          manager.add(c);
          System.out.println("own\t" + c.getName() + "\t" + c.getValue() + "\t" + c.getDomain() + "\t" + c.getPath() + "\t" + c.getSecure()
              + "\t" + c.getVersion() + "\t" + c.isPathSpecified() + "\t" + c.isDomainSpecified());
        }
        manager.testStarted();
        for (int j = 2 + r.nextInt(5); j > 0; j--) {
          URL at = new URI(url()).toURL();
          for (int k = r.nextInt(3); k > 0; k--) {
            String text = setCookie();
            manager.addCookieFromHeader(text, at);
            System.out.println("set\t" + at + "\t" + text);
          }
          if (r.nextInt(2) == 0) {
            at = new URI(url()).toURL();
          }
          String header = manager.getCookieHeaderForURL(at);
          System.out.println("get\t" + at + "\t" + (header == null ? "-" : header));
        }
      }
    }
  }
}

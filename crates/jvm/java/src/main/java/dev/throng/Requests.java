package dev.throng;

import dev.throng.Message.CookieFlags;
import dev.throng.Message.RequestFlags;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.jmeter.config.Argument;
import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.protocol.http.control.Cookie;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.protocol.http.control.Header;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.protocol.http.util.HTTPArgument;
import org.apache.jmeter.protocol.http.util.HTTPFileArg;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.testelement.property.FunctionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.MultiProperty;
import org.apache.jmeter.testelement.property.TestElementProperty;

/**
 * HTTP samplers that scripts use: whether a script has changed a sampler, the changed request, and its cookies. To detect
 * a change, nothing is evaluated: functions are compared by their text, so that a function with a new value each time
 * counts as unchanged.
 */
final class Requests {
    private static final VarHandle OVERRIDE;

    static {
        try {
            OVERRIDE = MethodHandles.privateLookupIn(FunctionProperty.class, MethodHandles.lookup())
                    .findVarHandle(FunctionProperty.class, "overrideValue", String.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Requests() {
    }

    /** Writes all properties except cookies, sorted by name, because merging appends properties at the end. */
    static void trace(Output out, TestElement element) {
        List<JMeterProperty> all = new ArrayList<>();
        element.propertyIterator().forEachRemaining(all::add);
        all.sort(Comparator.comparing(JMeterProperty::getName));
        for (JMeterProperty property : all) {
            trace(out, property);
        }
        out.u8(0);
    }

    private static void trace(Output out, JMeterProperty property) {
        out.str(property.getName());
        if (property instanceof FunctionProperty) {
            String override = (String) OVERRIDE.get((FunctionProperty) property);
            if (override == null) {
                out.u8(1);
            } else {
                out.u8(2);
                out.str(override);
            }
        } else if (property instanceof TestElementProperty) {
            TestElement element = ((TestElementProperty) property).getElement();
            if (element != null && !(element instanceof CookieManager)) {
                trace(out, element);
            }
        } else if (property instanceof MultiProperty) {
            for (JMeterProperty inner : (MultiProperty) property) {
                trace(out, inner);
            }
            out.u8(0);
        } else {
            out.str(property.getStringValue());
        }
    }

    /** Writes the request of the sampler. {@code lasting}: headers that other samplers share have changed. */
    static void write(Output out, HTTPSamplerBase sampler, boolean lasting) {
        Records.Request request = new Records.Request();
        request.protocol = sampler.getPropertyAsString(HTTPSamplerBase.PROTOCOL);
        request.domain = sampler.getDomain();
        request.port = sampler.getPropertyAsString(HTTPSamplerBase.PORT);
        request.path = sampler.getPropertyAsString(HTTPSamplerBase.PATH);
        request.method = sampler.getMethod();
        request.encoding = sampler.getContentEncoding();
        request.connectTimeout = sampler.getPropertyAsString(HTTPSamplerBase.CONNECT_TIMEOUT);
        request.responseTimeout = sampler.getPropertyAsString(HTTPSamplerBase.RESPONSE_TIMEOUT);
        request.embedded = sampler.getEmbeddedUrlRE();
        request.flags = flags(sampler) | (lasting ? RequestFlags.LASTING : 0);
        Arguments arguments = sampler.getArguments();
        int count = arguments == null ? 0 : arguments.getArgumentCount();
        for (int i = 0; i < count; i++) {
            request.arguments.add(argument(arguments.getArgument(i)));
        }
        for (HTTPFileArg file : sampler.getHTTPFiles()) {
            Records.SentFile sent = new Records.SentFile();
            sent.path = file.getPath();
            sent.name = file.getParamName();
            sent.mime = file.getMimeType();
            request.files.add(sent);
        }
        List<Records.Header> headers = headers(sampler.getHeaderManager());
        if (headers != null) {
            request.headers = headers;
        }
        request.name = name(sampler);
        request.write(out);
    }

    private static int flags(HTTPSamplerBase sampler) {
        return (sampler.getFollowRedirects() ? RequestFlags.FOLLOW_REDIRECTS : 0)
                | (sampler.getAutoRedirects() ? RequestFlags.AUTO_REDIRECTS : 0)
                | (sampler.getUseKeepAlive() ? RequestFlags.KEEP_ALIVE : 0)
                | (sampler.getDoMultipart() ? RequestFlags.MULTIPART : 0)
                | (sampler.getDoBrowserCompatibleMultipart() ? RequestFlags.COMPATIBLE : 0)
                | (sampler.getPostBodyRaw() ? RequestFlags.RAW : 0)
                | (sampler.isImageParser() ? RequestFlags.LOADS_EMBEDDED : 0)
                | (sampler.useMD5() ? RequestFlags.MD5 : 0);
    }

    private static Records.Argument argument(Argument argument) {
        boolean http = argument instanceof HTTPArgument;
        Records.Argument sent = new Records.Argument();
        sent.name = argument.getName();
        sent.value = argument.getValue();
        sent.encode = http && ((HTTPArgument) argument).isAlwaysEncoded();
        // The string that JMeter writes after the name. The method isUseEquals would set a property permanently.
        sent.equals = "=".equals(argument.getMetaData());
        sent.contentType = http ? ((HTTPArgument) argument).getContentType() : "";
        return sent;
    }

    /** Returns the headers of a manager; null if there is no manager, or if it has no list of headers. */
    static List<Records.Header> headers(HeaderManager manager) {
        CollectionProperty list = manager == null ? null : manager.getHeaders();
        if (list == null) {
            return null;
        }
        List<Records.Header> headers = new ArrayList<>();
        for (JMeterProperty property : list) {
            Header header = (Header) property.getObjectValue();
            Records.Header sent = new Records.Header();
            sent.name = header.getName();
            sent.value = header.getValue();
            headers.add(sent);
        }
        return headers;
    }

    /** Returns a sampler's name; null if no script has changed it and native code evaluates it. */
    static String name(TestElement sampler) {
        JMeterProperty name = sampler.getProperty(TestElement.NAME);
        boolean planned = name instanceof FunctionProperty && OVERRIDE.get((FunctionProperty) name) == null;
        return planned ? null : name.getStringValue();
    }

    /** Copies the cookies of the message into the sampler's cookie manager, if it has one. */
    static void readCookies(Input in, TestElement sampler) {
        CookieManager manager = Natives.cookies(sampler);
        int count = in.i32();
        CollectionProperty cookies = manager == null ? null : manager.getCookies();
        if (cookies != null) {
            cookies.clear();
        }
        Records.Cookie one = new Records.Cookie();
        for (int i = 0; i < count; i++) {
            one.read(in);
            if (cookies != null) {
                // JMeter stores seconds.
                cookies.addItem(new Cookie(one.name, one.value, one.domain, one.path, one.secure, one.expiresMs / 1000,
                        (one.flags & CookieFlags.PATH_GIVEN) != 0, (one.flags & CookieFlags.DOMAIN_GIVEN) != 0, one.version));
            }
        }
    }

    static boolean hasCookies(TestElement sampler) {
        return Natives.cookies(sampler) != null;
    }

    static void writeCookies(Output out, TestElement sampler) {
        CollectionProperty cookies = Natives.cookies(sampler).getCookies();
        out.i32(cookies.size());
        Records.Cookie one = new Records.Cookie();
        for (JMeterProperty property : cookies) {
            Cookie cookie = (Cookie) property.getObjectValue();
            one.name = cookie.getName();
            one.value = cookie.getValue();
            one.domain = cookie.getDomain();
            one.path = cookie.getPath();
            one.secure = cookie.getSecure();
            one.expiresMs = cookie.getExpiresMillis();
            one.flags = (cookie.isPathSpecified() ? CookieFlags.PATH_GIVEN : 0)
                    | (cookie.isDomainSpecified() ? CookieFlags.DOMAIN_GIVEN : 0);
            one.version = cookie.getVersion();
            one.write(out);
        }
    }
}

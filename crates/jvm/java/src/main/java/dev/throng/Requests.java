package dev.throng;

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
 * HTTP samplers that scripts see: whether one was changed, what it asks for then, and its cookies.
 * To find a change nothing is evaluated: a function counts by its text, so that one that answers something else each time
 * is no change.
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

    /** Writes all properties as they are set, but cookies; by their names, for what is merged into an element goes to its end. */
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

    /** Writes what the sampler asks for. {@code lasting}: headers that others share are not the plan's any more. */
    static void write(Output out, HTTPSamplerBase sampler, boolean lasting) {
        out.str(sampler.getPropertyAsString(HTTPSamplerBase.PROTOCOL));
        out.str(sampler.getDomain());
        out.str(sampler.getPropertyAsString(HTTPSamplerBase.PORT));
        out.str(sampler.getPropertyAsString(HTTPSamplerBase.PATH));
        out.str(sampler.getMethod());
        out.str(sampler.getContentEncoding());
        out.str(sampler.getPropertyAsString(HTTPSamplerBase.CONNECT_TIMEOUT));
        out.str(sampler.getPropertyAsString(HTTPSamplerBase.RESPONSE_TIMEOUT));
        out.str(sampler.getEmbeddedUrlRE());
        int flags = (sampler.getFollowRedirects() ? 1 : 0) | (sampler.getAutoRedirects() ? 2 : 0)
                | (sampler.getUseKeepAlive() ? 4 : 0) | (sampler.getDoMultipart() ? 8 : 0)
                | (sampler.getDoBrowserCompatibleMultipart() ? 16 : 0) | (sampler.getPostBodyRaw() ? 32 : 0)
                | (sampler.isImageParser() ? 64 : 0) | (sampler.useMD5() ? 128 : 0) | (lasting ? 256 : 0);
        out.u8(flags & 0xff);
        out.u8(flags >> 8);
        Arguments arguments = sampler.getArguments();
        int count = arguments == null ? 0 : arguments.getArgumentCount();
        out.i32(count);
        for (int i = 0; i < count; i++) {
            Argument argument = arguments.getArgument(i);
            out.str(argument.getName());
            out.str(argument.getValue());
            boolean http = argument instanceof HTTPArgument;
            out.bool(http && ((HTTPArgument) argument).isAlwaysEncoded());
            // What JMeter writes behind the name. Its own isUseEquals sets a property, after which the argument would stay for ever.
            out.bool("=".equals(argument.getMetaData()));
            out.str(http ? ((HTTPArgument) argument).getContentType() : "");
        }
        HTTPFileArg[] files = sampler.getHTTPFiles();
        out.i32(files.length);
        for (HTTPFileArg file : files) {
            out.str(file.getPath());
            out.str(file.getParamName());
            out.str(file.getMimeType());
        }
        HeaderManager headers = sampler.getHeaderManager();
        CollectionProperty list = headers == null ? null : headers.getHeaders();
        out.i32(list == null ? 0 : list.size());
        if (list != null) {
            for (JMeterProperty property : list) {
                Header header = (Header) property.getObjectValue();
                out.str(header.getName());
                out.str(header.getValue());
            }
        }
        writeName(out, sampler);
    }

    /** Writes a sampler's name, unless no script has changed it and it is evaluated natively. */
    static void writeName(Output out, TestElement sampler) {
        JMeterProperty name = sampler.getProperty(TestElement.NAME);
        boolean planned = name instanceof FunctionProperty && OVERRIDE.get((FunctionProperty) name) == null;
        out.optStr(planned ? null : name.getStringValue());
    }

    /** Gives the sampler's cookie manager the cookies of the message, if it has one. */
    static void readCookies(Input in, TestElement sampler) {
        CookieManager manager = Natives.cookies(sampler);
        int count = in.i32();
        CollectionProperty cookies = manager == null ? null : manager.getCookies();
        if (cookies != null) {
            cookies.clear();
        }
        for (int i = 0; i < count; i++) {
            String name = in.str();
            String value = in.str();
            String domain = in.str();
            String path = in.str();
            boolean secure = in.bool();
            long expires = in.i64();
            int flags = in.u8();
            int version = in.i32();
            if (cookies != null) {
                // JMeter keeps seconds.
                cookies.addItem(new Cookie(name, value, domain, path, secure, expires / 1000,
                        (flags & 1) != 0, (flags & 2) != 0, version));
            }
        }
    }

    static boolean hasCookies(TestElement sampler) {
        return Natives.cookies(sampler) != null;
    }

    static void writeCookies(Output out, TestElement sampler) {
        CollectionProperty cookies = Natives.cookies(sampler).getCookies();
        out.i32(cookies.size());
        for (JMeterProperty property : cookies) {
            Cookie cookie = (Cookie) property.getObjectValue();
            out.str(cookie.getName());
            out.str(cookie.getValue());
            out.str(cookie.getDomain());
            out.str(cookie.getPath());
            out.bool(cookie.getSecure());
            out.i64(cookie.getExpiresMillis());
            out.u8((cookie.isPathSpecified() ? 1 : 0) | (cookie.isDomainSpecified() ? 2 : 0));
            out.i32(cookie.getVersion());
        }
    }
}

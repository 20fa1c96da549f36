package dev.throng;

import java.lang.reflect.Method;
import java.util.Optional;
import org.apache.jmeter.protocol.http.control.CookieManager;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.BooleanProperty;
import org.apache.jmeter.testelement.property.IntegerProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.LongProperty;
import org.apache.jmeter.testelement.property.MultiProperty;
import org.apache.jmeter.testelement.property.NullProperty;
import org.apache.jmeter.testelement.property.TestElementProperty;

/**
 * Native samplers other than HTTP samplers, as scripts have changed them: their evaluated properties as an element of a
 * plan. A sampler's getters return its managers, because plug-ins store managers in fields.
 */
final class Natives {
    private static final ClassValue<Optional<Method>> HEADERS = managers("getHeaderManager", HeaderManager.class);
    private static final ClassValue<Optional<Method>> COOKIES = managers("getCookieManager", CookieManager.class);

    private Natives() {
    }

    private static ClassValue<Optional<Method>> managers(String name, Class<?> kind) {
        return new ClassValue<>() {
            @Override
            protected Optional<Method> computeValue(Class<?> of) {
                try {
                    Method method = of.getMethod(name);
                    return kind.isAssignableFrom(method.getReturnType()) ? Optional.of(method) : Optional.empty();
                } catch (NoSuchMethodException e) {
                    return Optional.empty();
                }
            }
        };
    }

    private static Object manager(ClassValue<Optional<Method>> getter, TestElement sampler) {
        Optional<Method> method = getter.get(sampler.getClass());
        if (method.isEmpty()) {
            return null;
        }
        try {
            return method.get().invoke(sampler);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /** Returns the sampler's header manager; null if it has none. */
    static HeaderManager headers(TestElement sampler) {
        return sampler instanceof HTTPSamplerBase ? ((HTTPSamplerBase) sampler).getHeaderManager()
                : (HeaderManager) manager(HEADERS, sampler);
    }

    /** Returns the sampler's cookie manager; null if it has none. */
    static CookieManager cookies(TestElement sampler) {
        return sampler instanceof HTTPSamplerBase ? ((HTTPSamplerBase) sampler).getCookieManager()
                : (CookieManager) manager(COOKIES, sampler);
    }

    /** Writes the sampler in a form for comparison. */
    static void trace(Output out, TestElement sampler) {
        Requests.trace(out, sampler);
        if (!(sampler instanceof HTTPSamplerBase)) {
            HeaderManager headers = headers(sampler);
            if (headers != null) {
                Requests.trace(out, headers);
            }
        }
    }

    /** Writes the sampler. {@code lasting}: headers that other samplers share have changed. */
    static void write(Output out, TestElement sampler, boolean lasting) {
        StringBuilder xml = new StringBuilder();
        String tag = sampler.getClass().getSimpleName();
        xml.append('<').append(tag);
        attribute(xml, "guiclass", sampler.getPropertyAsString(TestElement.GUI_CLASS));
        attribute(xml, "testclass", sampler.getPropertyAsString(TestElement.TEST_CLASS));
        attribute(xml, "testname", sampler.getName());
        xml.append('>');
        properties(xml, sampler);
        xml.append("</").append(tag).append('>');
        Records.Given given = new Records.Given();
        given.xml = xml.toString();
        given.headers = Requests.headers(headers(sampler));
        given.name = Requests.name(sampler);
        given.lasting = lasting;
        given.write(out);
    }

    private static void properties(StringBuilder xml, TestElement element) {
        element.propertyIterator().forEachRemaining(property -> {
            String name = property.getName();
            if (!name.equals(TestElement.NAME) && !name.equals(TestElement.GUI_CLASS) && !name.equals(TestElement.TEST_CLASS)) {
                property(xml, property);
            }
        });
    }

    private static void property(StringBuilder xml, JMeterProperty property) {
        if (property instanceof NullProperty) {
            return;
        }
        if (property instanceof TestElementProperty) {
            TestElement element = ((TestElementProperty) property).getElement();
            if (element != null && !(element instanceof HeaderManager) && !(element instanceof CookieManager)) {
                open(xml, "elementProp", property);
                attribute(xml, "elementType", element.getClass().getSimpleName());
                xml.append('>');
                properties(xml, element);
                xml.append("</elementProp>");
            }
            return;
        }
        if (property instanceof MultiProperty) {
            open(xml, "collectionProp", property);
            xml.append('>');
            for (JMeterProperty inner : (MultiProperty) property) {
                property(xml, inner);
            }
            xml.append("</collectionProp>");
            return;
        }
        String tag = property instanceof BooleanProperty ? "boolProp" : property instanceof IntegerProperty ? "intProp"
                : property instanceof LongProperty ? "longProp" : "stringProp";
        open(xml, tag, property);
        xml.append('>');
        text(xml, property.getStringValue());
        xml.append("</").append(tag).append('>');
    }

    private static void open(StringBuilder xml, String tag, JMeterProperty property) {
        xml.append('<').append(tag);
        attribute(xml, "name", property.getName());
    }

    private static void attribute(StringBuilder xml, String name, String value) {
        xml.append(' ').append(name).append("=\"");
        text(xml, value);
        xml.append('"');
    }

    private static void text(StringBuilder xml, String text) {
        for (int i = 0; text != null && i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter < ' ' || letter == '<' || letter == '>' || letter == '&' || letter == '"') {
                xml.append("&#").append((int) letter).append(';');
            } else {
                xml.append(letter);
            }
        }
    }
}
